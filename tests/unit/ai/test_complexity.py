"""AG-18: how demanding questions are, in German and English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from werkbank.ai.complexity import complexity_of

SIMPLE = (
    "Hallo!",
    "Guten Tag zusammen",
    "Vielen Dank, super!",
    "Thank you very much!",
    "Good morning",
    "Wann läuft der Mietvertrag ab?",
    "Wer hat das Protokoll unterschrieben?",
    "Wie hoch ist die Miete?",
    "Wie heisst der Geschäftsführer der Muster AG?",
    "Wo liegt die Marktanalyse?",
    "Was kostet ein Parkplatz?",
    "Welche Kündigungsfrist gilt?",
    "Nenne mir die IBAN des Lieferanten.",
    "Zeig mir die Dateien vom März",
    "Was ist in meinen Dateien?",
    "Gibt es einen Vertrag mit der Swisscom?",
    "Übersetze «Guten Tag» ins Französische",
    "Bitte übersetze diesen Satz auf Englisch: Wir analysieren die Lage.",
    "What is in my files?",
    "When does the lease end?",
    "Who wrote the analysis?",
    "How much is the rent?",
    "List the invoices of May",
    "Where is the signed contract?",
    "Translate this sentence into German: we compare prices.",
    "How many employees does the company have?",
)
MODERATE = (
    "Fasse den Bericht in fünf Sätzen zusammen.",
    "Schreibe eine kurze Absage an den Bewerber.",
    "Erkläre mir, was die Klausel 5 bedeutet.",
    "Warum wurde der Preis erhöht?",
    "Wann wurde der Vertrag unterschrieben, und welche Frist gilt? Wer haftet?",
    "Ist die Klausel nach Schweizer Recht gültig?",
    "Sollen wir das Angebot annehmen?",
    "Was ist der Unterschied zwischen Gewährleistung und Garantie?",
    "Mach weiter",
    "Mein Vermieter will mir kündigen.",
    "Summarise the minutes of the meeting.",
    "Write a reminder to the customer.",
    "Explain the warranty clause.",
    "Should we accept this offer?",
    "Why did the costs rise?",
    "Is this clause enforceable?",
    "Übersetze den folgenden Text ins Englische: " + "Die Parteien vergleichen die Preise. " * 40,
)
COMPLEX = (
    "Vergleiche die drei Offerten und empfiehl eine.",
    "Stelle die Leistungen der beiden Versicherungen einander gegenüber.",
    "Analysiere die Jahresrechnung 2025.",
    "Pruefe den Vertrag auf Risiken.",
    "Berechne den Barwert bei 3 % Zins.",
    "Plane mir die Einführung des neuen Systems bis Juni.",
    "Erstelle einen Projektplan für den Umzug.",
    "Bewerte die Bonität dieses Kunden.",
    "Rechne mir die Zinsen über zehn Jahre vor.",
    "Welche Widersprüche gibt es zwischen den beiden Gutachten?",
    "Hallo, kannst du bitte die beiden Angebote vergleichen?",
    "Mach mir eine Wettbewerbsanalyse.",
    "Wer haftet? Wie hoch ist die Haftung? Wann verjährt sie? Was gilt bei Vorsatz?",
    "Bitte:\n1. Lies die Verträge\n2. Suche die Fristen\n3. Mach eine Tabelle",
    "Compare the two offers.",
    "Analyse last year's figures and find the outliers.",
    "Calculate the payback period of the heating.",
    "Review this contract for risks.",
    "Plan the migration step by step.",
    "What are the pros and cons of leasing?",
    "Prepare a comparison of both insurers.",
    "Why does this fail?\n```python\nraise ValueError\n```",
    "def f(x):\n    return x\nis this right?",
    "Bitte beachte Folgendes. " + "Der Kunde hat uns am Montag einen Brief gesandt. " * 20,
)


@pytest.mark.parametrize("question", SIMPLE)
def test_simple(question: str) -> None:
    assert complexity_of(question) == "simple"


@pytest.mark.parametrize("question", MODERATE)
def test_moderate(question: str) -> None:
    assert complexity_of(question) == "moderate"


@pytest.mark.parametrize("question", COMPLEX)
def test_complex(question: str) -> None:
    assert complexity_of(question) == "complex"


def test_files_make_it_harder() -> None:
    question = "Welche Kündigungsfrist gilt?"
    assert [complexity_of(question, count) for count in (1, 2, 4)] == ["simple", "moderate", "complex"]


@pytest.mark.parametrize("word", ["Ja, mach das.", "und jetzt?", "Yes please", "go on"])
def test_going_on_is_as_hard_as_what_it_goes_on_with(word: str) -> None:
    assert complexity_of(word, earlier=COMPLEX[0]) == "complex"
    assert complexity_of(word, earlier=SIMPLE[5]) == "simple"
    assert complexity_of("Danke!", earlier=COMPLEX[0]) == "simple"


@given(st.text(max_size=2_000), st.integers(0, 100))
def test_any_text_has_a_class(question: str, files: int) -> None:
    assert complexity_of(question, files) == complexity_of(question, files)


@pytest.mark.parametrize("piece", ["stelle ", "waege ", "(", "hallo ", ";\n", "1. ", "a", "rechne "])
def test_long_hostile_text_is_classified_quickly(piece: str) -> None:
    # no pattern may backtrack: the longest prompt must not take minutes (the suite's timeout would end it)
    assert complexity_of(piece * (100_000 // len(piece)))
