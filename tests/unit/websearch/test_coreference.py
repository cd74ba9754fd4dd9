"""Follow-ups are made to stand alone before they are searched, and only they (WS-02)."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.backstop import read_phrasings
from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.messages import Message
from werkbank.websearch.coreference import INSTRUCTION, stand_alone
from werkbank.websearch.language import LANGUAGES
from werkbank.websearch.pointers import filled_in, points_back

PHRASINGS = read_phrasings(sorted(Path(__file__).with_name("phrasings").glob("*.json")))

HISTORY = (
    Message(role="user", content="Who played Roy Batty?"),
    Message(role="assistant", content="Rutger Hauer did."),
)


def never(messages: Sequence[Message]) -> str:
    raise AssertionError("nobody may be asked")


@pytest.mark.parametrize(
    "text",
    [
        "Lebt er noch?", "Wo wohnt sie denn jetzt?", "Und wann schließt es?", "Ist der noch im Amt?", "Und in Basel?",
        "Wie komme ich dorthin?", "Wer ist seine Nachfolgerin?",
        "Is he still alive?", "Where do they live now?", "And on Sundays?", "What about Berlin?",
        "Who is her successor?", "When does it close?", "How old is that one?",
        "Est-il encore en vie ?", "Où habite-t-elle ?", "Et le dimanche ?", "Qui est son successeur ?", "Il vit où ?",
        "È ancora vivo lui?", "Dove abita lei?", "E la domenica?", "Chi è il suo successore?", "E a Roma?",
        "Leeft hij nog?", "Waar woont ze nu?", "En op zondag?", "Hoe oud is hij?", "Is die nog open?",
        "In welchem Land lebt er?", "Wie viele Kinder hat er?", "Wer ist der Bürgermeister dort?", "Seit wann?",
        "Können Sie mir sagen, wo er heute wohnt?", "Ist die Bundesrätin noch mit ihm verheiratet?",
        "Danke. Lebt sie noch?",
        "Is the museum there open today?", "On Sundays, is it open?", "Thanks! Is he still alive?",
        "IS HE STILL ALIVE?",
        "Quel âge a-t-il ?", "Dans quel pays vit-elle ?", "Combien d'enfants a-t-il ?", "Qui est le maire là-bas ?",
        "Alors est-il marié ?", "Y habite-t-il encore ?", "È ancora vivo?", "Quando chiude?", "Abita ancora lì?",
        "In welk land woont hij?", "Wie is daar burgemeester?", "Bedankt. Leeft ze nog?",
    ],
)  # fmt: skip
def test_follow_ups_point_back(text: str) -> None:
    assert points_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wer ist Bundeskanzler?", "Können Sie mir sagen, wann das Museum öffnet?",
        "Gibt es heute noch einen Zug nach Chur?",
        "Who is the mayor of London?", "Is there a train to Leeds tonight?", "What time is it in Tokyo?",
        "Qui est le maire de Lyon ?", "Y a-t-il un train pour Genève ce soir ?", "Quelle heure est-il à Tokyo ?",
        "Chi è il sindaco di Milano?", "C'è un treno per Como stasera?", "Quali sono gli orari degli Uffizi?",
        "Wie is de burgemeester van Amsterdam?", "Is er vanavond nog een trein naar Gent?", "Hoe laat is het in Tokio?",
        "Wo wohnt Roger Federer?", "when does tesco close tonight", "Waar woont Max Verstappen?",
        "Où habite Zinédine Zidane ?", "Emmanuel Macron est-il encore président de la République ?",
        "La mairie est-elle ouverte le 8 mai ?", "È morto Adriano Celentano?", "Dove abita George Clooney?",
        "Hat Elon Musk seinen Wohnsitz in Texas?", "Der König von Dänemark, wie heißt er?",
        "Is it still Tim Cook who runs Apple?",
        "Ich schreibe an die Stadt Konstanz. Wer ist dort Oberbürgermeister?", "Did Mick Jagger retire or is he alive?",
    ],
)  # fmt: skip
def test_questions_that_stand_alone_are_not_rewritten(text: str) -> None:
    assert not points_back(text)
    assert stand_alone(text, HISTORY, never) == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_hardly_a_whole_question_costs_a_model_call(language: str) -> None:
    # What is searched by force at once would wait for a model first.
    whole = [each.text for each in PHRASINGS if each.lang == language and each.force]
    asked = [text for text in whole if points_back(text)]
    assert len(asked) <= 0.04 * len(whole), asked


def test_long_text_is_not_even_read() -> None:
    assert not points_back("he " * 20_000)


def test_follow_up_is_filled_in_with_anybody_anywhere() -> None:
    assert filled_in("Does he still live there?") == ("does anna meier still live in bern ?",)
    assert filled_in("Wohnt er dort noch?") == ("wohnt anna meier noch in bern ?",)


def test_the_rewritten_question_is_searched() -> None:
    asked: list[Sequence[Message]] = []

    def rewrite(messages: Sequence[Message]) -> str:
        asked.append(messages)
        return '  "Leeft Rutger Hauer nog?"\n'

    assert stand_alone("Leeft hij nog?", HISTORY, rewrite) == "Leeft Rutger Hauer nog?"
    [(system, user)] = asked
    assert (system.role, system.content) == ("system", INSTRUCTION)
    assert "assistant: Rutger Hauer did." in user.content
    assert user.content.endswith("user (last message): Leeft hij nog?")


def test_nothing_said_before_nothing_to_rewrite() -> None:
    tool_only = (Message(role="tool", content="x", tool_call_id="1"), Message(role="assistant", content=" "))
    assert stand_alone("Is he alive?", (), never) == "Is he alive?"
    assert stand_alone("Is he alive?", tool_only, never) == "Is he alive?"


def test_long_texts_are_left_alone() -> None:
    text = "He told me that " + "the council decided " * 5
    assert stand_alone(text, HISTORY, never) == text


@pytest.mark.parametrize("answer", ["", "  \n ", "Sure!\nIs Rutger Hauer alive?", "x" * 500, '""'])
def test_an_answer_that_is_no_question_is_not_used(answer: str) -> None:
    assert stand_alone("Is he alive?", HISTORY, lambda messages: answer) == "Is he alive?"


def test_a_fault_leaves_the_question_as_it_is() -> None:
    def rewrite(messages: Sequence[Message]) -> str:
        raise ProviderUnavailable("down")

    assert stand_alone("Is he alive?", HISTORY, rewrite) == "Is he alive?"


@given(st.text(max_size=200), st.text(max_size=600))
def test_any_text_and_any_answer_give_a_question(text: str, answer: str) -> None:
    assert stand_alone(text, HISTORY, lambda messages: answer).strip() or not text.strip()
