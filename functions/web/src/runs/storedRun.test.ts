import { describe, expect, it } from "vitest";
import type { RunRow, StoredMessage, StoredToolCall } from "../api/types";
import { runFromMessages } from "./storedRun";

const row: RunRow = { id: "r", status: "completed", lastSeq: 9, costChf: "0", startedAt: "", completedAt: "" };

function message(role: "user" | "assistant", content: string, toolCalls: StoredToolCall[] = []): StoredMessage {
  const stored = { id: content, runId: "r", round: 1, role, content, toolCalls };
  return { ...stored, citations: [], fileIds: [], pinned: false, createdAt: "" };
}

function call(status: StoredToolCall["status"]): StoredToolCall {
  return { callId: status, name: "readFile", arguments: "{}", status, result: "text", durationMs: 3 };
}

describe("runFromMessages", () => {
  it("tells answers and tool calls, and of other runs nothing", () => {
    const calls = [call("succeeded"), call("failed"), call("claimed")];
    const stranger = { ...message("assistant", "of another run"), runId: "other" };
    const run = runFromMessages(row, [
      message("user", "Why?"),
      message("assistant", "", calls),
      message("assistant", "So."),
      stranger,
    ]);
    expect(run.blocks.map((block) => (block.kind === "text" ? block.text : block.outcome?.success))).toEqual([
      true,
      false,
      undefined,
      "So.",
    ]);
    expect(run.end).toEqual({ kind: "complete", status: "completed" });
  });

  it("keeps why a run ended", () => {
    const ends = ["stopped", "error", "budgetExceeded"].map((status) => runFromMessages({ ...row, status }, []).end);
    expect(ends).toMatchObject([
      { kind: "stopped" },
      { kind: "error" },
      { kind: "complete", status: "budgetExceeded" },
    ]);
  });
});
