import json
import subprocess

import pytest

import flyball


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two files of hyperfine-like timings: the second is a tenth slower."""
    folder = tmp_path_factory.mktemp("two")
    for name, by in (("before", 1.0), ("after", 1.1)):
        runs = [
            {"metadata": {"date": f"2026-11-23 10:00:{n:02d}"}, "values": [
                (0.02 + 0.0001 * ((7 * n + 3 * k) % 11)) * by for k in range(20)]}
            for n in range(12)
        ]
        text = {
            "version": "1.0",
            "metadata": {"name": "work", "unit": "second", "loops": 1},
            "benchmarks": [{"runs": runs}],
        }
        (folder / f"{name}.json").write_text(json.dumps(text))
    return folder / "before.json", folder / "after.json"


def test_the_verdict_is_the_programs(program, two):
    a, b = two
    told = subprocess.run(
        [program, "report", str(a), str(b), "--format", "json", "--no-page"],
        capture_output=True, text=True,
    )
    model = json.loads(told.stdout)
    own = flyball.report(a, b).model
    for run in [*own["runs"], *model["runs"]]:
        # Who imported the files, and when.
        run.pop("command", None), run.pop("created", None)
    assert own == model
    found = flyball.compare(a, b)
    assert found.model == model["comparisons"][0]
    assert found.verdict == model["comparisons"][0]["verdict"]
    assert found.interval == (found.ratio.low, found.ratio.high)


def test_a_comparison_says_what_and_why(two):
    found = flyball.compare(*two)
    assert found.verdict in {"effect", "equivalent", "undecided", "confounded", "unproven"}
    assert found.ratio.value == pytest.approx(1.1, rel=0.02)
    assert found.sentence in str(found)
    assert all(reason.text for reason in found.reasons)
    assert found.reason is None or found.reason == found.reasons[0].text
    assert found.verdict.upper() in found._repr_html_()


def test_a_report_is_data_text_page_and_figures(two, tmp_path):
    report = flyball.report(*two)
    assert dict(report)["schema"] == report["schema"] == "flyball-report/1"
    assert "work" in report.text()
    assert report.page(tmp_path / "report.html").startswith("<!doctype html>".upper()) or (
        "<html" in (tmp_path / "report.html").read_text()
    )
    assert report.figures
    for figure in report.figures.values():
        assert figure._repr_svg_().lstrip().startswith("<svg")
    assert "<svg" in report._repr_html_()
    assert "|" in report.markdown()


def test_what_cannot_be_compared_says_so(run, two):
    with pytest.raises(flyball.BadInput) as caught:
        flyball.compare(run, run)
    assert "flyball.report" in caught.value.hint
    with pytest.raises(flyball.Error) as caught:
        flyball.report(*two, baseline="none such")
    assert "baseline" in str(caught.value)
    with pytest.raises(flyball.BadInput):
        flyball.report()


def test_a_run_shows_itself(run):
    shown = run._repr_html_()
    assert "sweep" in shown and "<table" in shown
    assert "wakeups" in run.wakeups._repr_html_()
    assert "rows" in repr(run.wakeups)
