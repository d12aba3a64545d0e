"""What can be done with a memory, each thing said once: arguments, checks, help, result, scope and address.

Descriptions only: `memory` does them, `client` sends them, `serve` takes them in. A new operation is a dataclass in one
of these files and a line in `surface.py`; docs/architecture.md shows it.
"""

from everwhen.api.operations.base import (
    Method,
    Operation,
    Parameter,
    Spec,
    arguments_of,
    does,
    done_by,
    handlers,
    operation,
    result_of,
)
from everwhen.api.operations.surface import (
    AsyncBankFacts,
    Bank,
    BankFacts,
    BankMethods,
    FactMethods,
    FileMethods,
)

__all__ = [
    "AsyncBankFacts", "Bank", "BankFacts", "BankMethods", "FactMethods", "FileMethods", "Method", "Operation",
    "Parameter", "Spec", "arguments_of", "does", "done_by", "handlers", "operation", "operations", "result_of",
]  # fmt: skip


def operations() -> dict[str, type[Operation[object]]]:
    """Every operation by the name of its method: `recall`, `facts.current`."""
    named = {name: one for name, one in vars(FileMethods).items() if type(one) is Method}
    named |= {name: one for name, one in vars(BankMethods).items() if type(one) is Method}
    named |= {f"facts.{name}": one for name, one in vars(FactMethods).items() if type(one) is Method}
    return {name: one.operation for name, one in named.items()}  # type: ignore[misc]
