import type { RunRow, StoredMessage } from "../api/types";
import { type Block, newRun, type RunEnd, type RunState, type ToolBlock } from "./runState";

const SUMMARY_LENGTH = 200;

/** A finished run as its stored messages tell it: what is shown until (or in case) its events do not arrive. */
export function runFromMessages(row: RunRow, messages: readonly StoredMessage[]): RunState {
  const own = messages.filter((message) => message.runId === row.id);
  return {
    ...newRun(row.id),
    blocks: own.filter((message) => message.role === "assistant").flatMap((message) => blocksOf(message, own)),
    citations: own.flatMap((message) => message.citations ?? []),
    end: endOf(row.status),
  };
}

function blocksOf(message: StoredMessage, own: readonly StoredMessage[]): Block[] {
  const { id, round, content } = message;
  const text: Block = { kind: "text", key: id, round, attempt: 0, text: content, stored: true };
  const tools = (message.toolCalls ?? []).map((call): ToolBlock => ({
    kind: "tool",
    key: call.id,
    round,
    name: call.name,
    arguments: call.arguments,
    readOnly: true,
    outcome: outcomeOf(call.id, own),
  }));
  return content ? [text, ...tools] : tools;
}

function outcomeOf(callId: string, own: readonly StoredMessage[]): ToolBlock["outcome"] {
  const result = own.find((message) => message.role === "tool" && message.toolCallId === callId);
  return result ? { success: true, summary: result.content.slice(0, SUMMARY_LENGTH), durationMs: null } : null;
}

function endOf(status: string): RunEnd {
  if (status === "stopped") return { kind: "stopped" };
  if (status === "error" || status === "failed") return { kind: "error", title: "", detail: "", retryable: true };
  return { kind: "complete", status };
}
