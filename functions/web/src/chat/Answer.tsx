import { type ComponentProps, memo, useDeferredValue, useMemo } from "react";
import type { ExtraProps } from "react-markdown";
import type { Citation } from "../api/types";
import { useText } from "../i18n/language";
import { Markdown } from "../ui/Markdown";
import { useWorkspace } from "../workspace/workspace";
import { citationMarks } from "./citationMarks";
import { placeOf } from "./place";

const PLUGINS = [citationMarks];

interface AnswerProps {
  text: string;
  citations: readonly Citation[];
  /** Citations arrive at the end of a run; until then the marks are shown but lead nowhere. */
  streaming: boolean;
}

/** One stretch of answer text. While it streams, rendering may lag behind so that typing stays smooth. */
export const Answer = memo(function Answer({ text, citations, streaming }: AnswerProps) {
  const shown = useDeferredValue(text);
  const components = useMemo(() => ({ button: citationButton(citations, streaming) }), [citations, streaming]);
  return (
    <div className="prose" data-testid="answer-text">
      <Markdown text={streaming ? shown : text} plugins={PLUGINS} components={components} />
    </div>
  );
});

function citationButton(citations: readonly Citation[], streaming: boolean) {
  return function CitationMark({ node }: ComponentProps<"button"> & ExtraProps) {
    const number = Number(node?.properties.dataCitation);
    const citation = citations.find((each) => each.number === number);
    if (citation) return <CitationButton citation={citation} />;
    return streaming ? <span className="citation pending">{number}</span> : <>[{number}]</>;
  };
}

export function CitationButton({ citation }: { citation: Citation }) {
  const t = useText();
  const { panels } = useWorkspace();
  const { number, fileName } = citation;
  const label = t("chat.citation", { number, file: fileName, place: placeOf(citation) });
  return (
    <button
      type="button"
      className="citation"
      data-testid="citation"
      data-number={number}
      aria-label={label}
      title={label}
      onClick={() => panels.openCitation(citation)}
    >
      {number}
    </button>
  );
}
