#!/usr/bin/python3
"""The report in a real browser: every view, every control, and text that tries to run as a script.

In: the built tool (SINTER_CLI), a folder for pages and screenshots (the argument); Debian's
chromium, chromium-driver and python3-selenium. Out: exit status 0, or 77 where one is missing.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import sample_results as sample

SKIPPED = 77
CLI = os.environ.get("SINTER_CLI", "build/release/cli/sinter")
OUT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/report_test").absolute()

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    print("skipped: this Python has no selenium (Debian: python3-selenium)")
    sys.exit(SKIPPED)
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    print("skipped: there is no chromium or chromedriver (Debian: chromium, chromium-driver)")
    sys.exit(SKIPPED)

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = set()
TABS = ["overview", "cases", "roofline", "table", "plans"]
ROWS = len(sample.CASES) * len(sample.DTYPES) * 100 * len(sample.PROVIDERS)


def make_report(name, results, *options):
    path = OUT / f"{name}.json"
    path.write_text(json.dumps(results))
    subprocess.run([CLI, "report", str(path), "--out", str(OUT / name), *options], check=True,
                   stdout=subprocess.DEVNULL)
    return OUT / name / "report.html"


def recorded_report(name):
    """The page of a run in bench/results/, made once."""
    page = OUT / name / "report.html"
    if name not in RECORDED:
        subprocess.run([CLI, "report", str(ROOT / "bench" / "results" / f"{name}.json"), "--out",
                        str(page.parent)], check=True, stdout=subprocess.DEVNULL)
        RECORDED.add(name)
    return page


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    # Without a sandbox: a container's root may not make one. Nothing but our own page is loaded.
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--hide-scrollbars", "--window-size=1280,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(DRIVER))


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = OUT / "report" / "report.html"
        cls.browser = start_browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def setUp(self):
        self.open()

    def tearDown(self):
        errors = [entry for entry in self.browser.get_log("browser") if entry["level"] != "INFO"]
        self.assertEqual(errors, [])
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def open(self, address="", page=None, theme="light"):
        self.browser.get("about:blank")
        self.browser.get((page or self.page).as_uri() + address)
        if self.script("return document.documentElement.dataset.theme") != theme:
            self.find("#theme").click()

    def script(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.script("return [...document.querySelectorAll(arguments[0])]"
                           ".map((each) => each.textContent)", selector)

    def choose(self, control, value):
        panel = '[role="tabpanel"]:not([hidden])'
        self.find(f'{panel} [aria-label="{control}"] [data-value="{value}"]').click()

    def select(self, selector, value):
        Select(self.find(selector)).select_by_value(value)

    def screenshot(self, name):
        """The whole page, not just the window."""
        width, height = self.script("return [innerWidth, document.documentElement.scrollHeight]")
        metrics = {"width": width, "height": min(height, 3000), "deviceScaleFactor": 1,
                   "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.browser.save_screenshot(str(OUT / f"{name}.png"))

    def heat_cell(self, rows, cols):
        row, col = sample.SIZES.index(rows) + 1, sample.SIZES.index(cols) + 1
        return self.find(f"#panel-cases .heat tbody tr:nth-child({row}) td:nth-child({col + 1})")

    def datasets(self, canvas):
        return self.script("return Chart.getChart(arguments[0]).data.datasets"
                           ".map((set) => [set.label, set.data.length])", canvas)

    def written(self, canvas):
        """What the chart's own plugins write into it: names of cases or of shapes."""
        return set(self.script(
            "const chart = Chart.getChart(arguments[0]); const texts = [];"
            "const fill = chart.ctx.fillText;"
            "chart.ctx.fillText = function (text, ...at) { texts.push(text);"
            " return fill.call(this, text, ...at); };"
            "for (const {beforeDatasetsDraw, afterDatasetsDraw} of chart.config.plugins)"
            " for (const draw of [beforeDatasetsDraw, afterDatasetsDraw]) if (draw) draw(chart);"
            "chart.ctx.fillText = fill; return texts;", canvas))

    def test_header_says_what_and_where(self):
        headline = self.find("#headline").text
        self.assertRegex(headline, r"^Fused is not slower than eager in \d+ of 581 cells \(median "
                                   r"gain \d+\.\d\d×\) and the best of torch_compile and "
                                   r"torch_eager in \d+ of 581 \(median gain \d+\.\d\d×\); it is "
                                   r"near the copy in \d+ of 581\.$")
        self.assertIn("Not slower: at most 3% above", self.find("#rules-text").text)
        head = self.find("header").text
        for part in ("EPYC 9354", "200 GB/s", "0123456789ab", "2026-11-15", "torch 2.11.0",
                     "sinter suite --set grid", "This run was interrupted", "3 rows failed",
                     "72 rows skipped"):
            self.assertIn(part, head)
        self.assertIn("cannot run yet", head)

    def test_tabs_switch_by_click_and_key_and_address(self):
        self.assertEqual(self.texts('[role="tab"]'),
                         ["Overview", "Cases", "Roofline", "Table", "Plans"])
        for tab in TABS:
            self.find(f"#tab-{tab}").click()
            shown = [panel.get_attribute("id") for panel in self.find_all('[role="tabpanel"]')
                     if panel.is_displayed()]
            self.assertEqual(shown, [f"panel-{tab}"])
            self.assertTrue(self.browser.current_url.split("#")[1].startswith(tab))
            self.screenshot(f"light-{tab}")
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.find("#tab-plans").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.script("return document.activeElement.id"), "tab-overview")
        self.open("#cases?case=%&dtype=f8&metric=no&rate=constructor&axis=&roofcase=x&plan=-1&tab=")
        self.assertEqual(self.find("#case-cases").get_attribute("value"), "softmax")
        self.open("#cases?case=layernorm&dtype=bf16&metric=limit")
        self.assertEqual(self.find("#case-cases").get_attribute("value"), "layernorm")
        self.assertEqual(self.texts('#panel-cases [aria-pressed="true"]')[:2],
                         ["bf16", "Fraction of limit"])

    def test_overview_shows_every_case(self):
        self.assertEqual(self.texts("#panel-overview .case-grid h3"), list(sample.CASES))
        self.assertEqual(len(self.find_all("#panel-overview .mini i")), 300)
        self.find('[data-case="norm_chain"]').click()
        self.assertEqual(self.find("#case-cases").get_attribute("value"), "norm_chain")

    def test_metric_changes_the_cells(self):
        self.open("#cases?case=softmax")
        time = {name: sample.median_us("softmax", 1024, 256, "f32", name)
                for name in sample.PROVIDERS}
        best = min(time["torch_compile"], time["torch_eager"])
        limit = sample.limit_us(1024, 256, "f32")
        for metric, expected in (("eager", f"{time['eager'] / time['fused']:.2f}×"),
                                 ("peer", f"{best / time['fused']:.2f}×"),
                                 ("limit", f"{100 * limit / time['fused']:.0f}%")):
            self.choose("Metric", metric)
            self.assertEqual(self.heat_cell(1024, 256).text, expected)
        title = self.heat_cell(1024, 256).get_attribute("title")
        for part in ("softmax 1024x256 f32", "fused ", "eager ", "limit ", "GB/s", "5 kernels"):
            self.assertIn(part, title)
        self.assertEqual(self.heat_cell(65536, 65536).get_attribute("data-state"), "skipped")
        self.assertIn("12.0 GB are free", self.heat_cell(65536, 65536).get_attribute("title"))

    def test_a_wrong_result_is_a_failed_cell(self):
        self.open("#cases?case=norm_chain&dtype=bf16")
        cell = self.heat_cell(256, 256)
        self.assertEqual((cell.get_attribute("data-state"), cell.text), ("failed", "fail"))
        self.assertIn("wrong result: relative error nan", cell.get_attribute("title"))
        self.screenshot("light-cases-failed")

    def test_arrow_keys_walk_the_grid(self):
        self.open("#cases")
        self.heat_cell(128, 128).click()
        self.script("return document.activeElement").send_keys(Keys.ARROW_RIGHT)
        self.script("return document.activeElement").send_keys(Keys.ARROW_DOWN)
        self.assertIn("256x256", self.find(".heat-detail").text)

    def test_lines_for_every_provider_and_the_limit(self):
        self.open("#cases")
        labels = [*sample.PROVIDERS, "copy limit"]
        self.assertEqual(self.datasets("rate-chart"), [[label, 9] for label in labels])
        self.select("#family", "cols=65536")
        self.assertEqual(self.datasets("rate-chart"), [[label, 8] for label in labels])
        self.select("#family", "all")
        self.assertEqual(self.datasets("rate-chart")[0], ["fused", 97])
        self.choose("Rate", "flops")
        self.choose("Size in", "bytes")
        point = self.script("return Chart.getChart('rate-chart').data.datasets[0].data[0]")
        self.assertEqual(point["x"], 2 * 128 * 128 * 4)
        flops = 5 * 128 * 128 / sample.median_us("softmax", 128, 128, "f32", "fused") / 1e3
        self.assertAlmostEqual(point["y"], flops)

    def test_roofline_has_points_and_both_roofs(self):
        self.open("#roofline")
        sets = self.datasets("roof-chart")
        self.assertEqual([count for _, count in sets], [291, 291, 290, 291, 2, 2])
        self.assertIn("200 GB/s", sets[4][0])
        legend = self.texts("#panel-roofline .chart-legend button")
        self.assertEqual(legend, [label for label, _ in sets])
        dashes = self.script("return [...document.querySelectorAll('.chart-legend button')]"
                             ".slice(-2).map((item) => item.querySelector('path').getAttribute("
                             "'stroke-dasharray'))")
        self.assertEqual(dashes, ["6 4", "2 3"], "as the lines are drawn")
        self.find("#panel-roofline .chart-legend button").click()
        self.assertFalse(self.script("return Chart.getChart('roof-chart').isDatasetVisible(0)"))
        self.find("#panel-roofline .chart-legend button").click()
        self.assertIn("2.10 TFLOP/s", sets[5][0])
        self.assertEqual(self.written("roof-chart"), set(sample.CASES))
        self.choose("Case · FLOP/byte", "layernorm")
        self.assertIn("128x128", self.written("roof-chart"))
        counts = [count for _, count in self.datasets("roof-chart")]
        self.assertEqual(counts, [97, 97, 96, 97, 2, 2])

    def test_table_sorts_and_filters(self):
        self.open("#table")
        self.assertEqual(self.find("#row-count").text, f"{ROWS} of {ROWS} rows")
        self.select("#filter-case", "layernorm")
        self.select("#filter-dtype", "f32")
        self.assertEqual(self.find("#row-count").text, f"400 of {ROWS} rows")
        self.select("#filter-provider", "fused")
        self.find("#filter-text").send_keys("x128")
        self.assertEqual(self.find("#row-count").text, f"10 of {ROWS} rows")
        head = self.find('th[data-field="median_us"]')
        times = sorted(sample.median_us("layernorm", rows, 128, "f32", "fused")
                       for rows in sample.SIZES)
        shapes = [f"{rows}x128" for rows in sample.SIZES]
        head.find_element(By.TAG_NAME, "button").click()
        self.assertEqual(head.get_attribute("aria-sort"), "ascending")
        self.assertEqual(self.texts("#rows tbody td:nth-child(2)"), shapes)
        self.assertEqual(self.texts("#rows tbody td:nth-child(5)")[0], f"{times[0]:.2f} µs")
        head.find_element(By.TAG_NAME, "button").click()
        self.assertEqual(head.get_attribute("aria-sort"), "descending")
        self.assertEqual(self.texts("#rows tbody td:nth-child(2)"), shapes[::-1])

    def test_a_null_gives_its_reason(self):
        self.open("#table")
        self.select("#filter-provider", "torch_eager")
        fields = self.script("return [...document.querySelectorAll('#rows th')]"
                             ".map((th) => th.dataset.field)")
        none = self.find(f"#rows tbody tr td:nth-child({fields.index('buffer_bytes') + 1}) abbr")
        self.assertEqual(none.text, "–")
        self.assertEqual(none.get_attribute("title"), "a peer does not say")
        # A column without any value is left out; its reason is in the list.
        self.assertNotIn("instructions", fields)
        self.assertIn("instructions: perf_event_open: permission denied",
                      self.script("return document.querySelector('#panel-table .explained')"
                                  ".textContent"))

    def test_the_table_uses_the_width_of_the_window(self):
        metrics = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.open("#table", recorded_report("cuda-h200-grid-torch-2026-11-16"))
        inside, shown = self.script("const box = document.querySelector('#panel-table .table-box');"
                                    "return [box.scrollWidth, box.clientWidth]")
        self.assertLessEqual(inside, shown)
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 1440)
        self.screenshot("light-recorded-table")

    def test_a_recorded_run_begins_with_a_metric_that_it_has(self):
        page = recorded_report("cuda-h200-grid-torch-2026-11-16")
        self.open("", page)
        self.assertEqual(self.texts('#panel-overview [aria-label="Metric"] [aria-pressed="true"]'),
                         ["Fused over best peer"])
        self.assertEqual(len(self.find_all("#panel-overview .mini i:not(.hatched)")), 1100)
        self.assertFalse(self.find('#panel-overview [data-value="eager"]').is_enabled())
        self.screenshot("light-recorded-overview")

    def test_counts_are_those_of_the_results_table(self):
        name = "cuda-h200-grid-torch-2026-11-16"
        table = subprocess.run([sys.executable, str(ROOT / "scripts" / "results_table.py"),
                                "--grid", str(ROOT / "bench" / "results" / f"{name}.json")],
                               check=True, capture_output=True, text=True).stdout
        rows = {row[0]: row[1:] for row in
                ([cell.strip() for cell in line.strip("|").split("|")]
                 for line in table.splitlines()[2:])}
        slow, near = rows["all"][0], rows["all"][4]
        self.open("", recorded_report(name))
        self.assertIn(f"in {slow} cells", self.find("#headline").text)
        self.assertIn(f"it is near the copy in {near}.", self.find("#headline").text)
        gain = rows["all"][2].replace("x", "×")
        self.assertIn(f"median gain {gain}", self.find("#headline").text)
        found = {row[0]: row[1:] for row in self.script(
            "return [...document.querySelectorAll('#panel-overview table.data tbody tr')]"
            ".map((tr) => [...tr.cells].map((cell) => cell.textContent))")}
        for case, (not_slower, _, median, _, near_copy) in rows.items():
            if case != "all":
                self.assertEqual((found[case][0], found[case][2], found[case][3]),
                                 (median.replace("x", "×"), not_slower, near_copy), case)

    def test_a_cell_far_from_the_copy_says_why(self):
        page = recorded_report("cpu-epyc-2cores-2026-11-15")
        self.open("#cases?case=double_softmax", page)
        self.assertIn("math", self.find("#far-cells").text)
        self.assertIn("2 exp", self.find("#far-cells").text)
        self.open("#cases?case=bias_dropout_add_t", page)
        self.assertIn("Probably bound by transposed access", self.find("#far-cells").text)
        title = self.find('#panel-cases td[data-state="ok"]').get_attribute("title")
        self.assertIn("Probably bound by", title)
        self.assertIn("Why 30 cells are far from the copy", self.find("#remarks").text)
        self.open("#table", page)
        self.assertIn("transposed access", self.texts("#rows tbody td"))

    def test_few_shapes_leave_no_holes(self):
        page = recorded_report("cpu-epyc-2cores-2026-11-15")
        self.open("", page)
        fields = self.texts('#panel-overview [data-case="softmax"] .mini i span')
        self.assertEqual(fields, ["128x128", "128x65536", "65536x128", "4096x4096"])
        self.screenshot("light-quick-overview")
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.open("#cases", page)
        self.assertEqual(len(self.find_all("#panel-cases .heat td")), 4)
        self.assertEqual(len(self.find_all('#panel-cases .heat td[data-state="none"]')), 0)

    def test_the_footer_follows_the_content(self):
        page = recorded_report("cpu-epyc-2cores-2026-11-15")
        metrics = {"width": 1280, "height": 2400, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        for tab in TABS:
            self.open(f"#{tab}", page)
            gap = self.script(
                "const last = [...document.querySelectorAll("
                "'main [role=tabpanel]:not([hidden]) > *')].pop(); return document.querySelector('footer').getBoundingClientRect().top - "
                "last.getBoundingClientRect().bottom")
            self.assertLess(gap, 60, tab)

    def test_plans_are_drawn_with_what_is_not_fused(self):
        count = {"kernel": ".plan .kernel .title", "node": ".plan .node",
                 "edge": ".plan .edge", "dashed": ".plan .edge.unfused",
                 "listed": ".unfused-list li"}
        for address, expected in {
                "softmax": (1, 6, 7, 0, 0), "softmax&plan=1": (2, 6, 7, 2, 2),
                "layernorm": (1, 14, 16, 0, 0), "norm_chain": (3, 7, 9, 4, 4)}.items():
            self.open(f"#plans?case={address}")
            found = tuple(len(self.find_all(selector)) for selector in count.values())
            self.assertEqual(found, expected, address)
            self.screenshot(f"light-plan-{address.replace('&plan=', '-')}")
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.assertIn("does not fit into the scratch memory", self.find(".unfused-list").text)

    def test_arrows_point_down(self):
        self.open("#plans?case=norm_chain")
        ends = self.script("return [...document.querySelectorAll('.plan .edge')].map((path) => {"
                           "const all = path.getTotalLength();"
                           "const [a, b] = [path.getPointAtLength(all - 1), "
                           "path.getPointAtLength(all)]; return b.y - a.y; })")
        self.assertEqual(len(ends), 9)
        self.assertGreater(min(ends), 0.5)
        repeats = self.script("return [...document.querySelectorAll('.plan .edge')].filter((path) =>"
                              "/([0-9.]+ [0-9.]+)L\\1(?![0-9.])/.test(path.getAttribute('d')))"
                              ".length")
        self.assertEqual(repeats, 0)

    def test_no_edge_runs_behind_words(self):
        for case in sample.CASES:
            self.open(f"#plans?case={case}&plan=1")
            hidden = self.script(
                "const words = [...document.querySelectorAll('.plan .kernel text')].map((text) =>"
                " text.getBBox());"
                "const over = ({x, y}) => words.some((box) => x > box.x && x < box.x + box.width &&"
                " y > box.y && y < box.y + box.height);"
                "return [...document.querySelectorAll('.plan .edge')].filter((path) => {"
                " for (let at = 0; at < path.getTotalLength(); at += 2)"
                "  if (over(path.getPointAtLength(at))) return true;"
                " return false; }).length")
            self.assertEqual(hidden, 0, case)
            self.assertEqual(len(self.find_all(".plan .kernel rect")),
                             len(self.find_all(".plan .kernel")) // 2, "no box behind the words")

    def test_nodes_of_a_plan_do_not_overlap(self):
        for case in sample.CASES:
            self.open(f"#plans?case={case}")
            boxes = self.script("return [...document.querySelectorAll('.plan .node rect')].map("
                                "(r) => { const b = r.getBoundingClientRect();"
                                "return [b.left, b.top, b.right, b.bottom]; })")
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
                    self.assertTrue(apart, (case, a, b))

    def test_dark_and_light(self):
        background = "return getComputedStyle(document.body).backgroundColor"
        light = self.script(background)
        for tab in TABS:
            self.open(f"#{tab}", theme="dark")
            self.screenshot(f"dark-{tab}")
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.assertNotEqual(self.script(background), light)
        self.open("#cases", theme="dark")
        line = "return Chart.getChart('rate-chart').data.datasets[0].borderColor"
        dark_line = self.script(line)
        self.find("#theme").click()
        self.assertNotEqual(self.script(line), dark_line)

    def test_a_phone_scrolls_boxes_not_the_page(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
        for tab in TABS:
            self.open(f"#{tab}")
            self.assertEqual(self.script("return innerWidth"), 390)
            width = self.script("return document.documentElement.scrollWidth")
            self.assertLessEqual(width, 390, tab)
            self.screenshot(f"phone-{tab}")
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})

    def test_hostile_text_stays_text(self):
        for tab in TABS:
            self.open(f"#{tab}")
            self.assertIsNone(self.script("return window.hacked ?? null"), tab)
        self.assertIn(sample.HOSTILE, self.find("#remarks").text)
        self.open("#plans?case=norm_chain")
        self.assertIn(sample.HOSTILE, self.find(".unfused-list").text)
        self.assertIsNone(self.script("return window.hacked ?? null"))

    def test_without_peers_the_metric_is_disabled(self):
        page = make_report("without_peers", sample.make_results(with_peers=False))
        self.open("#cases?metric=peer", page)
        button = self.find('#panel-cases [data-value="peer"]')
        self.assertFalse(button.is_enabled())
        self.assertIn("no peers", self.find("#panel-cases .why").text)
        self.assertEqual(len(self.datasets("rate-chart")), 3)

    def test_compared_with_an_earlier_run(self):
        earlier = OUT / "earlier.json"
        earlier.write_text(json.dumps(sample.make_results(slower=1.5)))
        page = make_report("compared", sample.make_results(), "--compare", str(earlier))
        self.open("#cases?metric=before", page)
        self.assertEqual(self.heat_cell(4096, 4096).text, "1.50×")
        self.assertIn("0 rows slower", self.find("#facts").text)
        # The other way round everything got slower, and says so.
        page = make_report("slower", sample.make_results(slower=1.5), "--compare",
                           str(OUT / "report.json"))
        self.open("#table", page)
        self.assertIn("slower", self.find("td.slower").text)
        self.assertNotIn(" 0 rows slower", self.find("#facts").text)

    def test_an_empty_run_has_a_page(self):
        results = sample.make_results()
        results.update(rows=[], plans=[])
        page = make_report("empty", results)
        for tab in TABS:
            self.open(f"#{tab}", page)
        self.assertEqual(self.find("#headline").text, "This run measured nothing.")

    def test_without_the_chart_library_the_rest_works(self):
        text = self.page.read_text()
        begin = text.index("<script>", text.index('id="compared"'))
        bare = OUT / "bare.html"
        bare.write_text(text[:begin] + text[text.index("</script>", begin) + len("</script>"):])
        self.open("#cases", bare)
        self.assertEqual(self.find("#rate-chart").text,
                         "charts are missing: this build had no Chart.js (Debian: libjs-chart.js)")
        self.assertEqual(len(self.find_all("#panel-cases table.heat td")), 100)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    if "<script></script>" in make_report("report", sample.make_results()).read_text():
        print("skipped: this build had no Chart.js (Debian: libjs-chart.js)")
        sys.exit(SKIPPED)
    unittest.main(verbosity=1)
