"""What the site has besides the pages of docs/: the reference made from the code, and links that fit the site.

`make docs` runs `make reference` first, which writes docs/reference/. That folder is not in the repository, so pages
link to sections of docs/reference.md, and here those links become links to the generated pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)((?!\.\./)[^)#]+)(?:#[^)]*)?\)")
ASKS = re.compile(
    r"""<(?:script|img|iframe|source)[^>]+src=["']?https?://|<link[^>]+href=["']?https?://|@import|url\(["']?https?://"""
)
REFERENCE = {
    "python": "python.md",
    "commands": "cli.md",
    "http": "http.md",
    "mcp-tools": "mcp.md",
    "settings": "settings.md",
}
"""Sections of docs/reference.md, and the generated page of each."""
ROOT = Path(__file__).parents[1]


def on_config(config: Any) -> None:
    """Stop with a sentence where the generated pages are missing."""
    missing = [name for name in REFERENCE.values() if not (ROOT / "docs" / "reference" / name).exists()]
    if missing:
        raise RuntimeError(f"docs/reference/ lacks {', '.join(missing)}; `make reference` writes it")


def on_page_markdown(markdown: str, page: Any, **_given: Any) -> str:
    """Links as the site has them: to generated pages, and paths where a file is only in the repository."""
    source = page.file.src_uri
    if source == "reference.md":
        for section, name in REFERENCE.items():
            title = section.replace("-", " ")
            markdown = re.sub(
                rf"(?im)^(## {title})$", rf"\1\n\n**[All of it](reference/{name})**\n", markdown
            )
    markdown = re.sub(r"\]\(reference\.md#([\w-]+)\)", _generated, markdown)
    return OUTSIDE.sub(lambda link: _inside(link, (ROOT / "docs" / source).parent), markdown)


def _generated(link: re.Match[str]) -> str:
    name = REFERENCE.get(link[1])
    return f"](reference/{name})" if name else link[0]


def _inside(link: re.Match[str], folder: Path) -> str:
    target = (folder / link[2] / link[3]).resolve()
    if target.is_relative_to(ROOT / "docs"):
        return link[0]
    return f"{link[1]} (`{target.relative_to(ROOT)}` in the repository)"


def on_post_build(config: Any, **_given: Any) -> None:
    """No page may load anything from another server."""
    site = Path(config.site_dir)
    asking = [
        str(one.relative_to(site))
        for one in [*site.rglob("*.html"), *site.rglob("*.css")]
        if ASKS.search(one.read_text(encoding="utf-8"))
    ]
    if asking:
        raise RuntimeError(f"these files of the site load something from another server: {', '.join(asking)}")
