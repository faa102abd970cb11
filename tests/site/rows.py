"""Rows of a data file, written as a contributor would: nothing said by reference."""

from typing import Any

import yaml


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def as_yaml(rows: Any) -> str:
    return yaml.dump(rows, Dumper=_Plain, allow_unicode=True, sort_keys=False)
