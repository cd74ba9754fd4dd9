import { memo } from "react";
import { useText } from "../i18n/language";
import type { Block, RunState, ToolBlock } from "../runs/runState";
import { useWorkspace } from "../workspace/workspace";
import { Answer, CitationButton } from "./Answer";
import type { Turn } from "./chatStore";
import { placeOf } from "./place";
import { RunEndNotice } from "./RunEndNotice";
import { RunFooter } from "./RunFooter";
import { ToolSteps } from "./ToolSteps";

interface AssistantMessageProps {
  turn: Turn;
  run: RunState;
}

/** The answer of a run: text and tool steps as they came, then sources, notices and figures. */
export const AssistantMessage = memo(function AssistantMessage({ turn, run }: AssistantMessageProps) {
  const { chat } = useWorkspace();
  const t = useText();
  const again = () => void chat.ask({ text: turn.prompt, fileIds: turn.fileIds });
  const streaming = run.end === null;
  return (
    <article
      className="message assistant"
      data-testid="message-assistant"
      data-state={streaming ? "streaming" : "done"}
    >
      {groupsOf(run.blocks).map((group) =>
        group.kind === "text" ? (
          <Answer key={group.key} text={group.text} citations={run.citations} streaming={streaming} />
        ) : (
          <ToolSteps key={group.key} runId={run.runId} steps={group.steps} running={streaming} />
        ),
      )}
      {streaming && <Activity run={run} />}
      <Sources run={run} />
      {run.standIns.map(({ label, insteadOf }) => (
        <p key={insteadOf ?? "keys"} className="notice notice-warning" data-testid="stand-in">
          {insteadOf ? t("chat.lastGood", { label, insteadOf }) : t("chat.earlierKeys", { label })}
        </p>
      ))}
      {run.end && <RunEndNotice end={run.end} onAgain={again} />}
      {run.summary && run.end && <RunFooter summary={run.summary} answer={answerOf(run)} />}
    </article>
  );
});

function Activity({ run }: { run: RunState }) {
  const t = useText();
  const { progress } = run;
  const isWriting = run.blocks.at(-1)?.kind === "text";
  return (
    <p className="activity">
      <span className="pulse" aria-hidden="true" />
      {!isWriting && <span data-testid="activity">{run.filler?.text ?? t("chat.thinking")}</span>}
      {progress && <span>{t("chat.round", { round: progress.round, max: progress.maxRounds })}</span>}
    </p>
  );
}

function Sources({ run }: { run: RunState }) {
  const t = useText();
  if (run.citations.length === 0) return null;
  return (
    <section className="sources" aria-label={t("chat.sources")}>
      <ul>
        {run.citations.map((citation) => (
          <li key={citation.number}>
            <CitationButton citation={citation} />
            <span className="source-name">{citation.fileName}</span>
            <span className="source-place">{placeOf(citation)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

type Group = Extract<Block, { kind: "text" }> | { kind: "steps"; key: string; steps: readonly ToolBlock[] };

function groupsOf(blocks: readonly Block[]): Group[] {
  const groups: Group[] = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    if (block.kind === "text") groups.push(block);
    else if (last?.kind === "steps") groups[groups.length - 1] = { ...last, steps: [...last.steps, block] };
    else groups.push({ kind: "steps", key: `steps-${block.key}`, steps: [block] });
  }
  return groups;
}

/** The text after the last tool step. */
export function answerOf(run: RunState): string {
  const from = run.blocks.findLastIndex((block) => block.kind === "tool") + 1;
  return run.blocks
    .slice(from)
    .flatMap((block) => (block.kind === "text" ? [block.text] : []))
    .join("\n\n");
}
