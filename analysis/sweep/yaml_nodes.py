"""YAML whose every value knows its line, so that messages can name it."""

import difflib
import pathlib

import yaml

from problems import StudyError


class Node:
    """A value of a YAML file; reading it as what it is not raises StudyError."""

    def __init__(self, node, file, path=""):
        self._node, self.file, self.path = node, file, path

    def fail(self, what):
        raise StudyError(f"{self.where()}: {what}")

    def where(self):
        return f"{self.file}:{self._node.start_mark.line + 1}"

    def items(self, known=None):
        """{key: Node} of a mapping; of `known` keys only, where they are given."""
        if not isinstance(self._node, yaml.MappingNode):
            self.fail(f"{self.path or 'a study'} needs keys with values, like gpu.cores: [5, 7]")
        found = {}
        for key_node, value in self._node.value:
            key = Node(key_node, self.file, self.path).text()
            value = Node(value, self.file, f"{self.path}.{key}".lstrip("."))
            if key in found:
                Node(key_node, self.file).fail(f"{key} is given twice (first in line "
                                               f"{found[key].line()}); remove one")
            if known is not None and key not in known:
                near = difflib.get_close_matches(key, known, 1)
                remedy = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
                Node(key_node, self.file).fail(f"unknown key {key}; {remedy}")
            found[key] = value
        return found

    def line(self):
        return self._node.start_mark.line + 1

    def list(self, of_what):
        """Nodes of a list that is not empty."""
        if not isinstance(self._node, yaml.SequenceNode):
            self.fail(f"{self.path} needs a list of {of_what}: [.., ..]")
        if not self._node.value:
            self.fail(f"{self.path} is empty; give at least one of {of_what}, or remove the key")
        return [Node(item, self.file, self.path) for item in self._node.value]

    def listed(self, of_what):
        """The same, of which one may be given without brackets."""
        return self.list(of_what) if self.is_list() else [self]

    def is_list(self):
        return isinstance(self._node, yaml.SequenceNode)

    def is_mapping(self):
        return isinstance(self._node, yaml.MappingNode)

    def text(self):
        """A word or number as it is written; a curve's points as the config language writes them."""
        if isinstance(self._node, yaml.SequenceNode):
            return f"[{', '.join(Node(item, self.file, self.path).text() for item in self._node.value)}]"
        if not isinstance(self._node, yaml.ScalarNode) or self._node.value == "":
            self.fail(f"{self.path} needs a value")
        return self._node.value


def read_yaml(path):
    """The root Node of a file."""
    path = pathlib.Path(path)
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise StudyError(f"{path}: {error.strerror}; give the file of a study (docs/sweeps.md)") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: byte {error.start} is not UTF-8; save it as UTF-8 text") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise StudyError(f"{path}:{mark.line + 1}: not YAML: {error.problem}; see docs/sweeps.md for an example") \
            from error
    except RecursionError as error:
        raise StudyError(f"{path}: nested too deeply; see docs/sweeps.md for an example") from error
    except yaml.YAMLError as error:
        raise StudyError(f"{path}: not YAML: {error}; see docs/sweeps.md for an example") from error
    if root is None:
        raise StudyError(f"{path}:1: the study is empty; see docs/sweeps.md for an example")
    return Node(root, path)
