#!/usr/bin/env python3
"""Runs the suite for a moment and checks results.json against its schema.

  schema_test.py SINTER SCHEMA.json RECORDED.json..   (exit 77: no jsonschema here, skipped)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77


def main():
    try:
        import jsonschema
    except ImportError:
        print("skipped: no module jsonschema (Debian: python3-jsonschema)")
        return SKIPPED
    tool, schema_path, *recorded = sys.argv[1:]
    validator = jsonschema.Draft202012Validator(json.load(open(schema_path)))
    validator.check_schema(validator.schema)
    with tempfile.TemporaryDirectory() as out:
        program = pathlib.Path(out) / "my.sinter"
        program.write_text("%x: f32(2, 3) = input\n%k: i64(3) = input\n%y = add %x, %k\nreturn %y\n")
        # A shape that runs, one that does not fit, two types; unfused edges come from few long rows.
        subprocess.run([tool, "suite", "--cases",
                        f"softmax,h_red_pw,bias_dropout_add_t,{program}", "--dtype",
                        "f32,bf16", "--shapes", "8x8,1x100000,16777216x16777216", "--seconds",
                        "0.001", "--out", out], check=True, stdout=subprocess.DEVNULL)
        results = json.load(open(pathlib.Path(out) / "results.json"))
        # This seed begins with small cells of softmax.
        subprocess.run([tool, "suite", "--set", "random", "--seed", "1736", "--cells", "2", "--cases",
                        "softmax", "--seconds", "0.001", "--out", out], check=True,
                       stdout=subprocess.DEVNULL)
        drawn = json.load(open(pathlib.Path(out) / "results.json"))
    validator.validate(results)
    assert len(results["rows"]) == 3 * 3 * 2 * 2 + 2, len(results["rows"])
    assert results["plans"], "no plans"
    validator.validate(drawn)
    assert drawn["meta"]["random"]["seed"] == 1736, drawn["meta"]
    for path in recorded:
        validator.validate(json.load(open(path)))
    # The schema is not so loose that anything passes.
    for break_it in (lambda r: r["rows"][0].pop("limit_us"), lambda r: r["meta"].pop("date"),
                     lambda r: r["rows"][0].update(median_us="fast"),
                     lambda r: r["rows"][0].update(extra=1), lambda r: r.update(format=1)):
        broken = json.loads(json.dumps(results))
        break_it(broken)
        assert not validator.is_valid(broken), "the schema accepts a broken file"
    print(f"{1 + len(recorded)} files are valid")
    return 0


if __name__ == "__main__":
    sys.exit(main())
