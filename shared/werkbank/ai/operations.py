"""What a model is called for (AI-02). The values are the wire's camelCase names."""

from enum import StrEnum


class Operation(StrEnum):
    """The purpose of a call; it decides which models come into question."""

    PLAN = "plan"
    DATA_ANALYSE = "dataAnalyse"
    DATA_GENERATE = "dataGenerate"
    DATA_EXTRACT = "dataExtract"
    IMAGE_ANALYSE = "imageAnalyse"
    IMAGE_GENERATE = "imageGenerate"
    NEUTRALIZATION_TEXT = "neutralizationText"
    NEUTRALIZATION_IMAGE = "neutralizationImage"
    WEB_SEARCH = "webSearch"
    WEB_CRAWL = "webCrawl"
    AGENT = "agent"
    EMBEDDING = "embedding"
    SPEECH_TEAMS = "speechTeams"
    TEXT_TO_SPEECH = "textToSpeech"
    SPEECH_TO_TEXT = "speechToText"
