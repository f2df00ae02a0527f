"""Questions for en-sentences: made from statements by rules of grammar, and asked about single words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

_STATEMENT = re.compile(
    r"(?P<who>(?:[\w'-]+ ){1,6}?)"
    r"(?P<verb>is|are|was|were|can|could|will|would|should|has|have|had|does|did|may|might|must) "
    r"(?!n't)(?P<rest>[^?!,;:]+?)\.?"
)
_PERSON = re.compile(
    r"\b(man|woman|men|women|people|person|boys?|girls?|child|children|kids?|he|she|they|we|i|you|lady|guy|players?|"
    r"workers?|team|crowd|couple|family|friends|mother|father|baby|girl|boy|somebody|someone|group)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r" (in|on|at|near|outside|inside|under|behind|over|through|along) (the|a|an|his|her|their)\b.*"
)
_TIME = re.compile(
    r" (today|yesterday|tomorrow|now|later|soon|last \w+|next \w+|in \d{4}|(in|at|during|on) the "
    r"\w*(day|night|morning|evening|summer|winter|week|year|century|month)s?)\b.*"
)
_PREPOSITION = (
    r"(?!(?:in|on|at|of|to|with|for|from|by|and|or|while|near|into|onto|over|as|that|off|out|up|down)\b)"
)
_DOING = re.compile(
    rf"(?P<doing>\w+ing) (?P<what>(?:a|an|the|some|his|her|their|its) (?:{_PREPOSITION}[\w'-]+ )?"
    rf"{_PREPOSITION}[\w'-]+)\b(?P<after>.*)"
)
_NO_SUBJECT = re.compile(
    r"^(there|here|it|this|that|what|who|where|when|how|why|which|and|but|so|if|because|yes|no|well)\b",
    re.IGNORECASE,
)


def questions_from(statement: str, drawn: random.Random) -> str | None:
    """Turn a statement into one of the questions that it answers, or return None where no rule applies."""
    match = _STATEMENT.fullmatch(statement)
    if match is None or _NO_SUBJECT.match(statement):
        return None
    who, verb, rest = match["who"].strip(), match["verb"], match["rest"].strip()
    if verb in ("has", "have", "had") and not re.match(r"(not |\w+ )?(been|\w+ed)\b", rest):
        return None
    first = who.split()[0]
    if first.lower() in _COMMON or not first[:1].isupper():
        who = who[0].lower() + who[1:]
    asked = list(_all(who, verb, rest))
    return drawn.choice(asked)


_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an the two three four five six some several many all most few one his her our their my your these those "
        "this that people men women man woman he she they we you children kids young old girls boys both each every "
        "another no other group someone nobody everyone none it there",
    )
)


def _all(who: str, verb: str, rest: str) -> Iterator[str]:
    yield f"{verb.capitalize()} {who} {rest}?"
    asks = "Who" if _PERSON.search(who) or who[:1].isupper() else "What"
    single = {"are": "is", "were": "was", "have": "has"}.get(verb, verb)
    yield f"{asks} {single} {rest}?"
    place, time = _PLACE.search(f" {rest}"), _TIME.search(f" {rest}")
    if place and place.start() > 1:
        yield f"Where {verb} {who} {rest[: place.start() - 1].strip()}?"
    elif time and time.start() > 1:
        yield f"When {verb} {who} {rest[: time.start() - 1].strip()}?"
    else:
        yield f"Why {verb} {who} {rest}?"
    doing = _DOING.match(rest)
    if doing is not None and verb in ("is", "are", "was", "were"):
        yield f"What {verb} {who} {doing['doing']}{_rest_of(doing['after'])}?"
        yield f"What {verb} {who} doing?"
        yield f"Which {doing['what'].split()[-1]} {verb} {who} {doing['doing']}?"
    if verb in ("are", "were") and who.split()[0].lower() not in ("we", "they", "you"):
        noun = who.split()[-1]
        yield f"How many {noun} {verb} {rest}?"
    if verb in ("can", "could", "will", "would", "should", "did", "does"):
        yield f"How {verb} {who} {rest}?"


def _rest_of(text: str) -> str:
    return text if len(text.split()) <= 4 else ""


THINGS = (
    "What is a {}?", "What is {}?", "What does {} mean?", "What is the meaning of {}?", "Define {}.",
    "What is the definition of {}?", "Who invented the {}?", "Where does {} come from?", "What are {}s made of?",
    "What is a {} used for?", "How do you make {}?", "How does a {} work?", "What color is a {}?",
    "How much does a {} cost?", "What kind of {} is it?", "What is another word for {}?", "How many {}s are there?",
    "What is the largest {} in the world?", "What is the origin of the word {}?", "Where can I find a {}?",
    "When was the first {} made?", "What causes {}?", "What is the name of the {}?", "How do I get rid of {}?",
    "Why do people like {}?", "How big is a {}?", "How long does a {} last?", "What is the best {}?",
    "What is the difference between {} and {}?", "What do {} and {} have in common?", "Can a {} have a {}?",
    "Which {} has the most {}?", "Is there a {} near here?", "How old is the {}?", "What year did the {} begin?",
    "How far is it to the {}?", "What is the chemical symbol for {}?", "What part of the {} is the {}?",
    "I need help with my {}.", "Tell me about {}.", "This {} is about a {}.", "The {} was made by a {}.",
)  # fmt: skip
"""Sentences about nouns."""
NAMES = (
    "Who is {}?", "Who was {}?", "Where is {}?", "What is {} famous for?", "When was {} born?", "When did {} die?",
    "What did {} write?", "What is the capital of {}?", "What is the population of {}?", "Where did {} live?",
    "How far is {} from {}?", "What language do they speak in {}?", "Who founded {}?", "What company makes {}?",
    "Who played {} in the film?", "What country is {} in?", "Who is the president of {}?", "How tall is {}?",
    "What does {} stand for?", "What is the abbreviation for {}?", "Why is {} called {}?",
    "What river runs through {}?",
    "In what year was {} founded?", "Who killed {}?", "What is the nickname of {}?", "How many people live in {}?",
    "What city is home to {}?", "Who wrote about {}?", "What happened in {}?", "{} met {} in {}.", "{} is from {}.",
)  # fmt: skip
"""Sentences about names."""
QUALITIES = (
    "This {n} is {a}.", "The {n} was {a} and {b}.", "A {a} {n}.", "What a {a} {n}!", "I found the {n} very {a}.",
    "The {n} is not {a}.", "It is a {a}, {b} {n}.", "How {a} is the {n}?", "The {n} is {a} but the {m} is {b}.",
    "I love this {n}, it is so {a}.", "I hate this {n}, it is too {a}.", "A {a} {n} with a {b} {m}.",
    "too {a} and {b}", "{a} {n} and {b} {m}", "The most {a} {n} I have ever seen.", "Why is the {n} so {a}?",
    "neither {a} nor {b}", "an {n} that is both {a} and {b}", "The {m} makes the {n} {a}.", "very {a}",
)  # fmt: skip
"""Phrases and sentences about a quality of a thing: {a} and {b} are adjectives, {n} and {m} nouns."""


def about_words(
    nouns: Sequence[str], names: Sequence[str], adjectives: Sequence[str], drawn: random.Random
) -> Iterator[str]:
    """Yield sentences about words without end: two of five about nouns, one about names, two about qualities."""
    while True:
        kind = drawn.random()
        if kind < 0.4:
            form = drawn.choice(THINGS)
            yield _article(form.format(*(drawn.choice(nouns) for _ in range(form.count("{}")))))
        elif kind < 0.6:
            form = drawn.choice(NAMES)
            yield form.format(*(drawn.choice(names) for _ in range(form.count("{}"))))
        else:
            words = {
                "a": drawn.choice(adjectives),
                "b": drawn.choice(adjectives),
                "n": drawn.choice(nouns),
                "m": drawn.choice(nouns),
            }
            yield _article(drawn.choice(QUALITIES).format(**words))


def _article(text: str) -> str:
    """Return the text with "an" in front of vowels, and "a" in front of other letters."""
    text = re.sub(r"\b([Aa])n? (?=[aeiou])", r"\1n ", text)
    return re.sub(r"\b([Aa])n (?=[^aeiou\W])", r"\1 ", text)
