"""Words to word pieces, by hand and against the tokenizer itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.errors import ArtifactError
from heedful.storage.hugging_face import read_piece_rules
from heedful.text.vocabulary import PieceVocabulary, Vocabulary, vocabulary_from_json
from tiny_encoder import ids, write_encoder

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("pieces") / "encoder")


@pytest.fixture(scope="module")
def vocabulary(folder: Path) -> PieceVocabulary:
    return PieceVocabulary(read_piece_rules(folder))


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("film", ("film",)),
        ("Films", ("film", "##s")),
        ("unknown", ("un", "##known")),
        ("actings", ("act", "##ing", "##s")),
        ("act,ing", ("act", ",", "[UNK]")),
        ("telescope", ("[UNK]",)),
        ("\u200b", ("[UNK]",)),
        ("\ud800", ("[UNK]",)),
        ("film" * 40, ("[UNK]",)),
    ],
)
def test_pieces_by_hand(vocabulary: PieceVocabulary, word: str, pieces: tuple[str, ...]) -> None:
    assert vocabulary.pieces(word) == ids(*pieces)
    assert vocabulary.knows(word) == ("[UNK]" not in pieces)


@pytest.mark.parametrize("word", ["[CLS]", "[SEP]", "[PAD]", "[MASK]"])
def test_a_text_cannot_name_a_special_token(vocabulary: PieceVocabulary, word: str) -> None:
    assert not set(vocabulary.pieces(word)) & set(ids("[CLS]", "[SEP]", "[PAD]", "[MASK]"))


def test_words_one_by_one_are_the_pieces_of_the_whole_sentence(
    folder: Path, vocabulary: PieceVocabulary
) -> None:
    from transformers import AutoTokenizer

    words = ["The", "unknown", "actings", "were", "n't", "filmed", ",", "Dog"]
    whole = AutoTokenizer.from_pretrained(folder)(words, is_split_into_words=True)
    pieces = [vocabulary.pieces(word) for word in words]
    assert whole["input_ids"][1:-1] == [piece for own in pieces for piece in own]
    assert whole.word_ids()[1:-1] == [place for place, own in enumerate(pieces) for _ in own]


def test_bytes_of_a_word_are_cut_the_same_wherever_it_stands(tmp_path: Path) -> None:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import AutoTokenizer, RobertaTokenizerFast

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        ["good film good plot"] * 9, 280, special_tokens=["<s>", "<pad>", "</s>", "<unk>"]
    )
    backend = json.loads(trained.to_str())["model"]
    merges = [tuple(pair) for pair in backend["merges"]]
    RobertaTokenizerFast(vocab=backend["vocab"], merges=merges).save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "roberta", "max_position_embeddings": 20}')
    vocabulary = PieceVocabulary(read_piece_rules(tmp_path))
    words = ["good", "plot", "good"]
    whole = AutoTokenizer.from_pretrained(tmp_path, add_prefix_space=True)(words, is_split_into_words=True)
    assert whole["input_ids"][1:-1] == [piece for word in words for piece in vocabulary.pieces(word)]
    assert (vocabulary.rules.start, vocabulary.rules.end) == (
        backend["vocab"]["<s>"],
        backend["vocab"]["</s>"],
    )


def test_a_vocabulary_reads_back_equal(vocabulary: PieceVocabulary) -> None:
    text = vocabulary.to_json()
    again = vocabulary_from_json(text)
    assert again == vocabulary
    assert hash(again) == hash(vocabulary)
    assert again.to_json() == text
    assert vocabulary_from_json(Vocabulary(("a",)).to_json()) == Vocabulary(("a",))


def test_a_damaged_vocabulary_is_refused(vocabulary: PieceVocabulary) -> None:
    content = json.loads(vocabulary.to_json())
    with pytest.raises(ArtifactError, match="another format"):
        vocabulary_from_json(json.dumps({**content, "format": 99}))
    del content["limit"]
    with pytest.raises(ArtifactError, match="model/vocabulary: word pieces are damaged"):
        vocabulary_from_json(json.dumps(content), "model/vocabulary")
    with pytest.raises(ArtifactError, match="expected JSON"):
        vocabulary_from_json("{")
