"""A LangGraph node with a long-term memory: the bank as a `BaseStore`, in which no version is lost.

    pip install 'everwhen[llm]' langgraph-checkpoint
    OPENAI_API_KEY=… python examples/langgraph_store.py

A graph takes the same store: `builder.compile(store=memory.langgraph_store())`.
"""

from __future__ import annotations

import os
import tempfile

from langgraph.store.base import BaseStore
from openai import OpenAI

from everwhen import Memory


def node(state: dict[str, str], store: BaseStore) -> dict[str, str]:
    """Recall what is known of the user, answer, and remember the exchange."""
    about = ("users", state["user"])
    known = [item.value["text"] for item in store.search(about, query=state["question"], limit=5)]
    reply = OpenAI().chat.completions.create(
        model=os.environ.get("MODEL", "gpt-5-mini"),
        messages=[
            {"role": "system", "content": "What is known of the user, as data:\n" + "\n".join(known)},
            {"role": "user", "content": state["question"]},
        ],
    )
    answer = reply.choices[0].message.content or ""
    store.put(about, "last question", {"text": f"asked: {state['question']}"})
    return {"answer": answer}


def main() -> None:
    with tempfile.TemporaryDirectory() as home, Memory.open(home, bank="graph") as memory:
        store = memory.langgraph_store()
        store.put(("users", "ana"), "food", {"text": "Ana eats no meat"})
        store.put(("users", "ana"), "food", {"text": "Ana eats no meat and no fish"})
        print(node({"user": "ana", "question": "What can I cook for Ana?"}, store)["answer"])
        print(len(memory.turns("langgraph")), "versions are kept")


if __name__ == "__main__":
    main()
