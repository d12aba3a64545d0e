"""Run the coding agents themselves with what `everwhen setup` writes, and record what their hooks got and gave.

    npm install --prefix AGENTS @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
    python scripts/record_agents.py AGENTS [TOOL…] > runs.json

Each tool runs with an empty home folder against a provider on loopback that says one sentence: a session in which
something is told, a session in which it is asked for, and a compaction. The real home folder is not touched.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from scripted_provider import Provider

from everwhen import Memory
from everwhen.agents.coding import hook, resident

TOLD = "We moved the staging server from port 8080 to port 8443. I live in Leeds, and I fly to Oslo tomorrow."
ASKED = "Which port does the staging server use now?"
FULL = "Go on until the context is full."
LONGEST = 120.0
"""Seconds for one step of a tool."""
ANSWER = "Understood, I will use that from now on."
RECORDER = """import json, subprocess, sys, time
told = sys.stdin.buffer.read()
began = time.perf_counter()
done = subprocess.run(json.loads({words!r}) + sys.argv[1:], input=told, capture_output=True)
took = time.perf_counter() - began
with open({file!r}, "a") as out:
    seen = {{"in": json.loads(told), "out": done.stdout.decode(), "exit": done.returncode}}
    out.write(json.dumps({{**seen, "ms": round(took * 1000, 1)}}) + "\\n")
sys.stdout.buffer.write(done.stdout)
"""
PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini-cli": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
CODEX = 'model = "scripted"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\nname = "scripted"\n'


def main(agents: Path, tools: list[str]) -> None:
    provider = Provider()
    provider.answer, provider.full = ANSWER, FULL
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    runs = {}
    for tool in tools or PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            runs[tool] = record(tool, agents / "node_modules", Path(folder), provider)
    json.dump(runs, sys.stdout, indent=1, ensure_ascii=False)
    print()


def record(tool: str, modules: Path, folder: Path, provider: Provider) -> dict[str, Any]:
    """One tool's run: its hooks in order, and whether its model saw what had been told."""
    user, home, work = folder / "user", folder / "home", folder / "work"
    work.mkdir()
    base = {"PATH": os.environ["PATH"], "HOME": str(user)}
    prepare(tool, user, provider.url)
    everwhen = [sys.executable, "-m", "everwhen"]
    python = {name: one for name, one in os.environ.items() if name == "PYTHONPATH"}
    subprocess.run(
        [*everwhen, "setup", tool, "--home", str(home)], env={**base, **python}, check=True, stdout=sys.stderr
    )
    log = folder / "hooks.jsonl"
    recorded(user, folder / "recorder.py", log)
    # The process is there, as it is after the first prompt of a day.
    process = subprocess.Popen([*everwhen, "server", "resident", "--home", str(home)], env={**base, **python})
    while not (home / hook.FOLDER / hook.SOCKET).exists():
        time.sleep(0.1)
    environment = {**base, **python, **variables(provider.url)}
    seen: list[bool] = []
    for words in commands(tool, modules):
        provider.requests.clear()
        subprocess.run(
            words,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            check=False,
            timeout=LONGEST,
        )
        seen.append("8443" in json.dumps(provider.requests))
        resident.request(home, "settle")
    resident.request(home, "stop")
    process.wait()
    with Memory.open(home) as memory:
        turns = [f"{one.role}: {one.text}" for one in memory.turns()]
    lines = log.read_text().splitlines() if log.exists() else []
    hooks = [json.loads(without_folder(line, folder)) for line in lines]
    version = json.loads((modules / PACKAGES[tool] / "package.json").read_text())["version"]
    return {"version": version, "hooks": hooks, "model_saw_the_port": seen, "turns": turns}


def without_folder(line: str, folder: Path) -> str:
    """A line without the name of the folder that the run was made in, also where slashes are written as dashes."""
    return line.replace(str(folder), "~").replace(str(folder).replace("/", "-"), "~")


def prepare(tool: str, user: Path, url: str) -> None:
    """What a user would have set up: where the model is."""
    user.mkdir()
    if tool == "codex":
        (user / ".codex").mkdir()
        (user / ".codex" / "config.toml").write_text(
            f'{CODEX}base_url = "{url}/v1"\nwire_api = "responses"\n'
        )
    elif tool == "gemini-cli":
        (user / ".gemini").mkdir()
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"disableAutoUpdate": True},
        }
        (user / ".gemini" / "settings.json").write_text(json.dumps(settings))
    elif tool == "opencode":
        (user / ".config" / "opencode").mkdir(parents=True)
        options = {"baseURL": f"{url}/v1", "apiKey": "none"}
        models = {"m": {"name": "m"}, "small": {"name": "small", "limit": {"context": 1000, "output": 100}}}
        model = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}
        settings = {"autoupdate": False, "model": "scripted/m", "provider": {"scripted": model}}
        (user / ".config" / "opencode" / "opencode.json").write_text(json.dumps(settings))


def recorded(user: Path, recorder: Path, log: Path) -> None:
    """Put a script that notes and times what it passes on before the hook, in every file that names it."""
    words = [sys.executable, "-I", "-S", hook.__file__]
    recorder.write_text(RECORDER.format(words=json.dumps(words), file=str(log)))
    instead = [sys.executable, str(recorder)]
    for file in [one for one in user.rglob("*") if one.is_file()]:
        text = file.read_text(encoding="utf-8").replace(" ".join(words), " ".join(instead))
        text = text.replace(json.dumps(words)[1:-1], json.dumps(instead)[1:-1])
        file.write_text(text, encoding="utf-8")


def variables(url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "none",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def commands(tool: str, modules: Path) -> list[list[str]]:
    """The three steps: told, asked in a new session, compacted."""
    if tool == "claude-code":
        claude = str(modules / "@anthropic-ai" / "claude-code-linux-x64" / "claude")
        more = [[claude, "-p", "-c", FULL]] * 3  # a session must have some length to be compacted
        return [[claude, "-p", TOLD], [claude, "-p", ASKED], *more, [claude, "-p", "-c", "/compact"]]
    if tool == "codex":
        # The one who runs this has written the hooks: nobody else has to look at them first.
        codex = [next(str(one) for one in modules.glob("@openai/codex-*/vendor/*/bin/codex")), "exec"]
        allowed = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        full = ["-c", "model_auto_compact_token_limit=10", "resume", "--last"]
        return [[*codex, *allowed, TOLD], [*codex, *allowed, ASKED], [*codex, *allowed, *full, FULL]]
    if tool == "gemini-cli":
        gemini = [
            "node",
            str(modules / "@google" / "gemini-cli" / "bundle" / "gemini.js"),
            "-m",
            "gemini-2.5-flash",
        ]
        return [[*gemini, "-p", TOLD], [*gemini, "-p", ASKED]]
    opencode = str(modules / "opencode-linux-x64" / "bin" / "opencode")
    full = [opencode, "run", "-c", "-m", "scripted/small"]
    return [[opencode, "run", TOLD], [opencode, "run", ASKED], [*full, FULL]]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
