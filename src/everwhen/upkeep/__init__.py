"""Looking after a bank: forgetting, retention, export, import and repair."""
