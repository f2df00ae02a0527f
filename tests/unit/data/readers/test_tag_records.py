"""Words with tags, and texts with spans, in JSON as tools write them; texts and names are invented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.data.examples import Corpus, WordTags
from heedful.data.readers.tag_files import files_of_words, read_tags
from heedful.errors import DataError

TEXT = "Ada Lovelace wrote to Paris."
EXPECTED = [
    ("Ada", "B-PER"),
    ("Lovelace", "I-PER"),
    ("wrote", "O"),
    ("to", "O"),
    ("Paris", "B-LOC"),
    (".", "O"),
]
SPANS = [(0, 12, "PER"), (22, 27, "LOC")]


def read(folder: Path, *records: object, name: str = "a.jsonl") -> Corpus:
    text = json.dumps(list(records)) if name.endswith(".json") else "\n".join(map(json.dumps, records))
    (folder / name).write_text(text, encoding="utf-8")
    return read_tags(folder / name)


def pairs(corpus: Corpus) -> list[list[tuple[str, str]]]:
    return [
        list(zip(example.words[0] or (), example.target.tags, strict=True))
        for example in corpus.examples
        if isinstance(example.target, WordTags)
    ]


@pytest.mark.parametrize("tags", ["tags", "ner_tags", "labels"])
@pytest.mark.parametrize("tokens", ["tokens", "words"])
def test_words_with_tags(tmp_path: Path, tokens: str, tags: str) -> None:
    words, names = zip(*EXPECTED, strict=True)
    assert pairs(read(tmp_path, {tokens: words, tags: names, "id": 3})) == [EXPECTED]


@pytest.mark.parametrize(
    "record",
    [
        {"text": TEXT, "label": [list(span) for span in SPANS]},  # doccano
        {"text": TEXT, "labels": [list(span) for span in SPANS]},
        {
            "text": TEXT,
            "entities": [
                {"id": k, "label": kind, "start_offset": start, "end_offset": end}
                for k, (start, end, kind) in enumerate(SPANS)
            ],
            "relations": [],
        },
        {"text": TEXT, "entities": [list(span) for span in SPANS]},  # spaCy, older
        {
            "text": TEXT,
            "answer": "accept",
            "_task_hash": 1,
            "spans": [{"start": start, "end": end, "label": kind} for start, end, kind in SPANS],
        },
    ],
)
def test_texts_with_spans(tmp_path: Path, record: dict[str, object]) -> None:
    assert pairs(read(tmp_path, record)) == [EXPECTED]


def test_label_studio(tmp_path: Path) -> None:
    result = [
        {
            "from_name": "kind",
            "to_name": "text",
            "type": "labels",
            "value": {"start": start, "end": end, "text": TEXT[start:end], "labels": [kind]},
        }
        for start, end, kind in SPANS
    ]
    task = {"id": 1, "data": {"text": TEXT}, "annotations": [{"result": result, "was_cancelled": False}]}
    assert pairs(read(tmp_path, task, name="export.json")) == [EXPECTED]


def test_prodigy_brings_its_tokens_and_answers(tmp_path: Path) -> None:
    text = "Ada-Lovelace wrote"
    tokens = [
        {"text": "Ada", "start": 0, "end": 3, "id": 0},
        {"text": "-", "start": 3, "end": 4, "id": 1},
        {"text": "Lovelace", "start": 4, "end": 12, "id": 2},
        {"text": "wrote", "start": 13, "end": 18, "id": 3},
    ]
    record = {
        "text": text,
        "tokens": tokens,
        "spans": [{"start": 0, "end": 12, "label": "PER"}],
        "answer": "accept",
    }
    corpus = read(tmp_path, record, {**record, "answer": "ignore"}, {**record, "answer": "reject"})
    assert pairs(corpus) == [[("Ada", "B-PER"), ("-", "I-PER"), ("Lovelace", "I-PER"), ("wrote", "O")]]
    assert corpus.skipped == {"answer: ignore": 1, "answer: reject": 1}


def test_what_spacy_writes(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    doc = nlp(TEXT)
    doc.ents = [doc.char_span(start, end, label=kind) for start, end, kind in SPANS]
    assert pairs(read(tmp_path, doc.to_json())) == [EXPECTED]


def test_spans_within_words_and_within_spans_are_counted(tmp_path: Path) -> None:
    record = {"text": "Parisians wrote", "label": [[0, 5, "LOC"], [0, 15, "X"], [0, 9, "PER"]]}
    corpus = read(tmp_path, record, {"text": "They wrote", "label": [[0, 2, "LOC"]]})
    assert pairs(corpus)[0] == [("Parisians", "B-X"), ("wrote", "I-X")]
    assert corpus.skipped == {"span within another": 2}
    assert any("1 spans end within a word" in note for note in corpus.notes)


def test_a_span_of_no_character_marks_no_word(tmp_path: Path) -> None:
    corpus = read(tmp_path, {"text": "Ada wrote", "label": [[2, 2, "PER"], [4, 4, "X"], [4, 9, "Y"]]})
    assert pairs(corpus)[0] == [("Ada", "O"), ("wrote", "B-Y")]
    assert corpus.skipped == {"span without a word": 2}
    assert not corpus.notes


@pytest.mark.parametrize(
    ("record", "part"),
    [
        ({"tokens": ["a", "b"], "ner_tags": [0, 1]}, "a tag is 0; write the names of the tags"),
        ({"tokens": ["a", "b"], "tags": ["O"]}, "1 tags for 2 words"),
        ({"tokens": ["a", "b"], "tags": ["O", 3]}, "a tag is 3; write the names"),
        ({"tokens": ["a", " "], "tags": ["O", "O"]}, "a word is empty"),
        ({"tokens": ["a", "b"]}, "no tags and no spans"),
        ({"words": ["a", "b"], "spans": [[0, 1, "X"]]}, "spans need the text that they are of"),
        (
            {"text": "a b", "label": [[0, "1", "X"]]},
            "expected a start and an end as whole numbers, and a label",
        ),
        ({"text": "a b", "label": [[0.0, 1.0, "X"]]}, "expected a start and an end as whole numbers"),
        ({"text": "a b", "label": [["0", "1", "X"]]}, "expected a start and an end as whole numbers"),
        ({"text": "a b", "label": [[False, True, "X"]]}, "expected a start and an end as whole numbers"),
        ({"text": "a b", "label": [[3, 1, "X"]]}, "a span ends before it begins"),
        ({"text": 3, "label": []}, "expected text, got 3"),
        ({"sentence": "a b"}, "no column 'text'"),
    ],
)
def test_what_fits_nothing_is_named(tmp_path: Path, record: dict[str, object], part: str) -> None:
    with pytest.raises(DataError, match=rf"a\.jsonl: row 1.*{part}"):
        read(tmp_path, record)


def test_half_a_character_in_a_tag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.jsonl: the label .* holds half of a character"):
        read(tmp_path, {"tokens": ["a", "b"], "tags": ["O", "B-\ud83d"]})


def test_words_to_be_tagged_are_recognized_by_content(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"tokens": ["Ada", "wrote"]}\n{"tokens": ["in", "Paris"]}\n')
    (tmp_path / "b.jsonl").write_text('{"text": "Ada wrote"}\n')
    files = files_of_words({})
    assert files.recognizes is not None
    assert files.read is not None
    assert files.recognizes(tmp_path / "a.jsonl")
    assert not files.recognizes(tmp_path / "b.jsonl")
    assert [example.words for example in files.read(tmp_path / "a.jsonl").examples] == [
        (("Ada", "wrote"),),
        (("in", "Paris"),),
    ]


def test_spans_outside_their_text_are_cut_and_counted(tmp_path: Path) -> None:
    corpus = read(
        tmp_path,
        {"text": "Ada wrote", "entities": [[-3, 3, "PER"]]},
        {"text": "Ada", "entities": [[0, 99, "PER"]]},
    )
    assert pairs(corpus) == [[("Ada", "B-PER"), ("wrote", "O")], [("Ada", "B-PER")]]
    assert any("2 spans begin or end outside their text" in note for note in corpus.notes)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"tokens": [], "tags": []}, "field 'tokens': is empty; drop the row"),
        ({"tokens": ["a", None], "tags": ["O", "O"]}, "got None at place 2"),
    ],
)
def test_tokens_that_are_no_words_are_named(tmp_path: Path, record: object, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read(tmp_path, record)


def test_the_shorter_export_of_label_studio(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}]
    corpus = read(tmp_path, {"id": 1, "text": "Ada wrote", "label": spans})
    assert pairs(corpus) == [[("Ada", "B-PER"), ("wrote", "O")]]
