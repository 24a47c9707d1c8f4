"""Data sets by name; a server on this machine stands in for OpenML."""

import hashlib
import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

from simstudy import load_study, read_data
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.named import named_set
from simstudy.data.files.read import data_text, read_data_set
from simstudy.errors import SimstudyError

UCI = Path(__file__).parents[3] / "studies" / "data" / "uci"
ARFF = """@relation weather
@attribute id numeric
@attribute outlook {sunny,rain}
@attribute play {yes,no}
@attribute heat numeric
@data
1,sunny,yes,20.5
2,rain,no,?
3,rain,yes,19
4,sunny,no,25
"""
# The columns, and whether they are the target or name rows.
FEATURES = [
    ("id", "numeric", "false", "true"),
    ("outlook", "nominal", "false", "false"),
    ("play", "nominal", "true", "false"),
    ("heat", "numeric", "false", "false"),
]


def answers(arff: str, checksum: str) -> dict[str, object]:
    """What OpenML says of a data set, by path, in its own form."""
    about = {"id": "31", "name": "wea/ther", "version": "2", "format": "ARFF", "status": "active"}
    about |= {"url": "https://www.openml.org/data/v1/download/77/weather.arff", "file_id": "77"}
    about |= {"md5_checksum": checksum, "description": "", "default_target_attribute": "play"}
    keys = ("name", "data_type", "is_target", "is_row_identifier")
    features = [
        dict(zip(keys, feature, strict=True))
        | {"index": str(place), "is_ignore": "false", "number_of_missing_values": "0"}
        for place, feature in enumerate(FEATURES)
    ]
    api = "/api/v1/json/data"
    return {
        f"{api}/31": {"data_set_description": about},
        f"{api}/features/31": {"data_features": {"feature": features}},
        f"{api}/qualities/31": {
            "data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "4"}]}
        },
        f"{api}/list/data_name/weather/limit/2/status/active/": {
            "data": {"dataset": [{"did": 31, "name": "wea/ther", "version": 2, "status": "active"}]}
        },
        "/data/v1/download/77/weather.arff": arff.encode(),
    }


@pytest.fixture
def openml(tmp_path, monkeypatch):
    """Replace OpenML by a server on this machine; returns its answers and the paths asked for."""
    content = answers(ARFF, hashlib.md5(ARFF.encode()).hexdigest())
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            answer = content.get(self.path)
            self.send_response(412 if answer is None else 200)
            self.end_headers()
            refusal = {"error": {"code": "111", "message": "Unknown dataset"}}
            answer = refusal if answer is None else answer
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def here(request):
        path = urllib.request.urlparse(request.full_url).path
        return urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}{path}")

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", here)
    yield content, asked
    server.shutdown()
    server.server_close()


@pytest.fixture
def offline(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))

    def refuse(request):
        raise urllib.error.URLError(OSError(-2, "Name or service not known"))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", refuse)
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.mark.parametrize("name", ["openml:31", "openml:weather"])
def test_a_set_of_openml_is_read_with_the_target_that_it_declares(openml, name):
    rows = read_data_set(name)
    variables = {variable.name: variable.values for variable in rows.sample.schema.variables}
    assert variables == {"outlook": ("rain", "sunny"), "heat": None, "play": ("no", "yes")}
    assert rows.source == "openml:31 (wea/ther, version 2)"
    assert (rows.name, rows.sample.incomplete) == ("wea-ther", True)
    assert rows.target_note == ["The target is 'play', as the data set declares it."]


def test_a_set_of_openml_is_fetched_once(openml):
    first = data_text("openml:31")
    asked = len(openml[1])
    assert data_text("openml:31") == first
    assert len(openml[1]) == asked > 0


def test_a_damaged_answer_of_openml_is_refused(openml):
    content, _ = openml
    content["/data/v1/download/77/weather.arff"] = ARFF.replace("20.5", "20.6").encode()
    with pytest.raises(SimstudyError, match=r"openml:31 cannot be read from OpenML: .*md5"):
        read_data("openml:31")


def test_a_number_that_openml_does_not_have_is_refused(openml):
    with pytest.raises(SimstudyError, match=r"openml:32 cannot be read from OpenML: .*not found"):
        read_data("openml:32")


def test_without_a_network_it_is_said_in_a_sentence(offline, tmp_path):
    with pytest.raises(SimstudyError) as refused:
        read_data("openml:31")
    assert str(refused.value) == (
        f"openml:31 is not in scikit-learn's cache, {tmp_path / 'cache'}, and OpenML does not "
        "send it: Name or service not known"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("uci:irs", r"no data set 'irs' in uci; did you mean 'iris'\? known: .* and 23 more$"),
        ("uci:../uci/iris", "no data set '../uci/iris' in uci"),
        ("sklearn:cancer", "did you mean 'breast_cancer'"),
        ("openml:", "a data set of OpenML has a number, as in openml:31, or a name"),
        ("openml:a/b", "or a name, as in openml:credit-g, not 'a/b'"),
        ("openml:1234567890", "not '1234567890'"),
    ],
)
def test_names_that_nothing_has_are_refused(name, words):
    with pytest.raises(SimstudyError, match=words):
        read_data(name)


def test_a_named_set_of_uci_is_its_file():
    by_name, by_file = read_data_set("uci:wine"), read_data_set(UCI / "wine.csv.gz")
    assert by_name.name == by_file.name == "wine"
    assert by_name.sample.schema == by_file.sample.schema
    assert by_name.sample.values.tobytes() == by_file.sample.values.tobytes()


def test_a_set_of_scikit_learn_is_its_frame():
    frame = load_breast_cancer(as_frame=True).frame
    assert data_text("sklearn:breast_cancer") == data_text(frame, ReadOptions("target"))
    assert named_set("sklearn:breast_cancer").name == "breast_cancer"


STUDY = """
name = "weather"
compare = "learners"
[[datasets]]
path = "{}"
[resampling]
folds = 2
[[learners]]
name = "naive_bayes"
[[learners]]
name = "tan"
"""


def test_a_study_has_the_same_identity_by_name_and_by_file(tmp_path, openml):
    (tmp_path / "wea-ther.arff").write_text(data_text("openml:31"))
    sources = []
    for path in ("openml:31", "wea-ther.arff"):
        (tmp_path / "study.toml").write_text(STUDY.format(path))
        sources.append(load_study(tmp_path / "study.toml").source)
    assert sources[0].digests == sources[1].digests
    placed = sources[0].placed({"datasets": [{"path": "openml:31"}]}, tmp_path / "results")
    assert placed == {"datasets": [{"path": "openml:31"}]}
