import type { RunRow, StoredMessage, StoredToolCall } from "../api/types";
import { type Block, newRun, type RunEnd, type RunState, type ToolBlock } from "./runState";

const SUMMARY_LENGTH = 200;

/** A finished run as its stored messages tell it: what is shown until (or in case) its events do not arrive. */
export function runFromMessages(row: RunRow, messages: readonly StoredMessage[]): RunState {
  const answers = messages.filter((message) => message.runId === row.id && message.role === "assistant");
  return {
    ...newRun(row.id),
    blocks: answers.flatMap(blocksOf),
    citations: answers.flatMap((message) => message.citations),
    end: endOf(row.status),
  };
}

function blocksOf({ id, round, content, toolCalls }: StoredMessage): Block[] {
  const text: Block = { kind: "text", key: id, round, attempt: 0, text: content, stored: true };
  const tools = toolCalls.map((call) => toolBlock(call, round));
  return content ? [text, ...tools] : tools;
}

function toolBlock({ callId, name, arguments: args, ...log }: StoredToolCall, round: number): ToolBlock {
  const summary = (log.result ?? "").slice(0, SUMMARY_LENGTH);
  const isOver = log.status === "succeeded" || log.status === "failed";
  const outcome = isOver ? { success: log.status === "succeeded", summary, durationMs: log.durationMs } : null;
  const call = { kind: "tool", key: callId, round, name, arguments: args, truncated: false } as const;
  return { ...call, readOnly: false, awaiting: false, origin: null, outcome };
}

function endOf(status: string): RunEnd {
  if (status === "stopped") return { kind: "stopped" };
  if (status === "error") return { kind: "error", title: "", detail: "", retryable: true };
  return { kind: "complete", status };
}
