"""What `make docs` does besides MkDocs: links that leave docs/, and a check that a reader asks no other server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)((?!\.\./)[^)#]+)(?:#[^)]*)?\)")
ASKS = re.compile(
    r"""<(?:script|img|iframe|source)[^>]+src=["']?https?://|<link[^>]+href=["']?https?://|@import|url\(["']?https?://"""
)
ROOT = Path(__file__).parents[1]


def on_page_markdown(markdown: str, page: Any, **_given: Any) -> str:
    """A link to a file of the repository becomes its path: the site has only the documents."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def plain(link: re.Match[str]) -> str:
        target = (folder / link[2] / link[3]).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return link[0]
        return f"{link[1]} (`{target.relative_to(ROOT)}` in the repository)"

    return OUTSIDE.sub(plain, markdown)


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
