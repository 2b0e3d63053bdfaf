#!/usr/bin/env python3
"""Scripts beside program files, as the PyTorch peer loads them: found, missing parts, mistakes.

  scripts_test.py FOLDER_OF_TORCH_SUITE      (needs no PyTorch)
"""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
from torch_suite.problems import NoFunction, outcome
from torch_suite.scripts import program_of


class Scripts(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def path(self, text, name="my.py"):
        path = pathlib.Path(self._folder.name) / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def error(self, text, inputs=1):
        """The row's error."""
        path = self.path(text)
        with self.assertRaises(NoFunction) as caught:
            program_of(path, inputs)
        message = outcome(caught.exception)
        self.assertEqual(list(message), ["error"])
        self.assertIn(path, message["error"])
        return message["error"].replace(path, "my.py")

    def test_program_is_the_function(self):
        text = "import math\n\ndef half(x):\n    return x / 2\n\n" \
            "def program(x, y):\n    return half(x) + math.floor(y)\n"
        self.assertEqual(program_of(self.path(text, "my own-1.py"), 2)(4, 1.5), 3)

    def test_any_arguments_will_do(self):
        self.assertEqual(program_of(self.path("def program(*x):\n    return len(x)\n"), 3)(1, 2), 2)
        self.assertIs(program_of(self.path("program = print\n", "two.py"), 1), print)
        with_default = "def program(x, eps=1e-5):\n    return x + eps\n"
        self.assertEqual(program_of(self.path(with_default, "three.py"), 1)(1), 1 + 1e-5)

    def test_a_script_runs_once(self):
        path = self.path("count = [0]\ncount[0] += 1\n\ndef program():\n    return count[0]\n")
        self.assertIs(program_of(path, 0), program_of(path, 0))
        self.assertEqual(program_of(path, 0)(), 1)

    def test_it_leaves_nothing_behind(self):
        path = self.path("def program(x):\n    return x\n")
        program_of(path, 1)
        self.assertEqual(os.listdir(os.path.dirname(path)), ["my.py"])

    def test_its_module_can_be_found(self):
        function = program_of(self.path("def program(x):\n    return x\n", "a b.c.py"), 1)
        self.assertIs(sys.modules[function.__module__].program, function)

    def test_mistakes_are_named(self):
        self.assertRegex(self.error("def program(x)\n"), r"^my\.py: SyntaxError: .*line 1")
        self.assertEqual(self.error("import no_such_module\n"),
                         "my.py: ModuleNotFoundError: No module named 'no_such_module'")
        self.assertEqual(self.error("raise ValueError('so it is')\n"),
                         "my.py: ValueError: so it is")
        self.assertEqual(self.error("import sys\nsys.exit(3)\n"), "my.py: SystemExit: 3")

    def test_it_has_to_define_the_function(self):
        for text in ("", "def programme(x):\n    return x\n", "program = 3\n"):
            self.assertEqual(self.error(text), "my.py defines no function program(*inputs)")

    def test_it_has_to_take_the_inputs(self):
        text = "def program(x, y):\n    return x + y\n"
        self.assertEqual(self.error(text, 1),
                         "my.py: the program has 1 inputs, but the function is program(x, y): "
                         "missing a required argument: 'y'")
        self.assertIn("too many positional arguments", self.error(text, 3))


if __name__ == "__main__":
    unittest.main()
