import { describe, expect, it } from "vitest";
import { parseEvent, type RunEvent } from "./events";
import { applyEvent, type EventOf, hasGap, newRun, type RunState, tellFiller } from "./runState";

const RUN = "run-1";

type Bare = RunEvent extends infer Each ? (Each extends RunEvent ? Pick<Each, "type" | "data"> : never) : never;

function log(...bare: Bare[]): RunEvent[] {
  return bare.map((event, index) => ({ runId: RUN, seq: index + 1, at: "2026-03-01T08:00:00Z", ...event }) as RunEvent);
}

function chunk(text: string, round = 1, attempt = 1): Bare {
  return { type: "chunk", data: { round, attempt, text } };
}

function replay(events: RunEvent[], from: RunState = newRun(RUN)): RunState {
  return events.reduce(applyEvent, from);
}

function texts(run: RunState): string[] {
  return run.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : []));
}

const call: Bare = {
  type: "toolCall",
  data: { callId: "c1", round: 1, name: "searchFiles", arguments: '{"q":"x"}', readOnly: true },
};
const result: Bare = {
  type: "toolResult",
  data: { callId: "c1", round: 1, name: "searchFiles", success: true, summary: "3 passages", durationMs: 12 },
};
const searchDone = chunk("Found.");
const whole = log(
  { type: "status", data: { status: "started", workflowId: "w1", messageId: "m0", title: "A question" } },
  chunk("Let me "),
  chunk("look."),
  call,
  result,
  chunk("It is ", 2),
  chunk("so [1].", 2),
  { type: "message", data: { messageId: "m1", role: "assistant", content: "It is so [1].", round: 2 } },
  { type: "complete", data: { status: "completed", workflowId: "w1", messageId: "m1" } },
);

describe("a call that needs consent", () => {
  const asked: Bare = {
    type: "confirmation",
    data: { callId: "c1", round: 1, name: "sendMail", arguments: "{}" },
  };

  it("waits until it runs, as one step", () => {
    const waiting = replay(log(asked)).blocks;
    expect(waiting).toMatchObject([{ key: "c1", name: "sendMail", awaiting: true, truncated: false }]);
    const running = replay(log(asked, call)).blocks;
    expect(running).toMatchObject([{ key: "c1", awaiting: false, outcome: null }]);
    expect(replay(log(asked, call, result)).blocks).toMatchObject([{ outcome: { success: true } }]);
  });
});

describe("a call that another session asks for (AG-16)", () => {
  const asked = { callId: "c1", round: 1, name: "sendMail", arguments: "{}" };

  it("says which", () => {
    const origin = { sessionId: "email_trigger", trusted: false };
    expect(replay(log({ type: "confirmation", data: { ...asked, ...origin } })).blocks).toMatchObject([{ origin }]);
  });

  it("says nothing where an older event does not", () => {
    expect(replay(log({ type: "confirmation", data: asked })).blocks).toMatchObject([{ origin: null }]);
  });
});

describe("a call whose arguments are cut short", () => {
  it("is known for it", () => {
    const data = { callId: "c1", round: 1, name: "sendMail", arguments: '{"to": "a', truncated: true };
    expect(replay(log({ type: "confirmation", data })).blocks).toMatchObject([{ truncated: true }]);
  });
});

describe("a broken configuration (AG-13)", () => {
  it("shows what stood in and keeps the title", () => {
    const started = { type: "status", data: { status: "started", workflowId: "w1", title: "A question" } } as const;
    const standIn = { model: "a/b", label: "B", insteadOf: "c/d" };
    const told = { type: "status", data: { status: "lastGood", workflowId: "w1", ...standIn } } as const;
    expect(replay(log(started, told))).toMatchObject({ title: "A question", standIns: [standIn] });
    expect(replay(log(started)).standIns).toEqual([]);
  });
});

describe("a filler (WS-05)", () => {
  const filler = (text: string, second = 0): EventOf<"filler"> => ({
    runId: RUN,
    seq: 0,
    type: "filler",
    at: new Date(Date.UTC(2026, 2, 1, 8, 0, second)).toISOString(),
    data: { text, kind: second ? "patience" : "opening" },
  });
  const searching = replay(log({ type: "status", data: { status: "started", workflowId: "w1" } }));

  it("is told until the next event, whatever it is, and leaves the log alone", () => {
    const told = tellFiller(searching, filler("One moment."));
    expect(told.filler?.text).toBe("One moment.");
    expect(told).toMatchObject({ lastSeq: 1, early: {} });
    expect(applyEvent(told, { ...log(searchDone)[0]!, seq: 2 } as RunEvent).filler).toBeNull();
  });

  it("stays when an event comes before its turn", () => {
    const told = tellFiller(searching, filler("One moment."));
    expect(applyEvent(told, { ...log(searchDone)[0]!, seq: 3 } as RunEvent).filler?.text).toBe("One moment.");
  });

  it("is replaced by patience, but not by that of a search beside it", () => {
    const told = tellFiller(searching, filler("One moment."));
    expect(tellFiller(told, filler("Another moment.", 1))).toBe(told);
    expect(tellFiller(told, filler("Still searching.", 10)).filler?.text).toBe("Still searching.");
  });

  it("is not told once the answer has begun or the run is over", () => {
    for (const run of [replay(log(chunk("It is"))), replay(whole)]) expect(tellFiller(run, filler("late"))).toBe(run);
  });
});

describe("applyEvent", () => {
  it("tells the run in order", () => {
    const run = replay(whole);
    expect(run.blocks.map((block) => block.kind)).toEqual(["text", "tool", "text"]);
    expect(texts(run)).toEqual(["Let me look.", "It is so [1]."]);
    expect(run).toMatchObject({ workflowId: "w1", lastSeq: 9, end: { kind: "complete", status: "completed" } });
  });

  it("drops duplicates without making a new state", () => {
    const run = replay(whole);
    for (const event of whole) expect(applyEvent(run, event)).toBe(run);
  });

  it("comes to the same state in any order of arrival, duplicates included", () => {
    const expected = replay(whole);
    expect(replay([...whole].reverse())).toEqual(expected);
    for (let seed = 1; seed <= 50; seed++) expect(replay(shuffled([...whole, ...whole], seed))).toEqual(expected);
  });

  it("waits at a gap and goes on when it is filled", () => {
    const [first, second, third, ...rest] = whole as [RunEvent, RunEvent, RunEvent, ...RunEvent[]];
    const waiting = replay([first, third, ...rest]);
    expect(waiting.lastSeq).toBe(1);
    expect(hasGap(waiting)).toBe(true);
    expect(texts(waiting)).toEqual([]);
    const filled = applyEvent(waiting, second);
    expect(hasGap(filled)).toBe(false);
    expect(filled).toEqual(replay(whole));
  });

  it("resets the round's text on a higher attempt and ignores a lower one", () => {
    const run = replay(log(chunk("Half an ans"), chunk("Anew ", 1, 2), chunk("stale", 1, 1), chunk("told.", 1, 2)));
    expect(texts(run)).toEqual(["Anew told."]);
  });

  it("resets only the round that began again", () => {
    const run = replay(log(chunk("One."), call, result, chunk("Tw", 2), chunk("Two.", 2, 2)));
    expect(texts(run)).toEqual(["One.", "Two."]);
  });

  it("takes the stored message for the streamed text", () => {
    const stored: Bare = { type: "message", data: { messageId: "m", role: "assistant", content: "Whole.", round: 1 } };
    expect(texts(replay(log(chunk("Who"), stored)))).toEqual(["Whole."]);
    expect(texts(replay(log(stored, stored)))).toEqual(["Whole."]);
  });

  it("keeps the text before the tools when a closing text comes in the same round", () => {
    const closing: Bare = {
      type: "message",
      data: { messageId: "m", role: "assistant", content: "So far: …", round: 1 },
    };
    const said: Bare = { type: "message", data: { messageId: "n", role: "assistant", content: "Looking.", round: 1 } };
    expect(texts(replay(log(chunk("Looking."), said, call, result, closing)))).toEqual(["Looking.", "So far: …"]);
  });

  it("ignores other runs and types it does not know", () => {
    const [first] = whole as [RunEvent];
    expect(applyEvent(newRun("other"), first).lastSeq).toBe(0);
    const unknown = parseEvent({ runId: RUN, seq: 1, type: "filler", at: "", data: {} }) as RunEvent;
    expect(applyEvent(newRun(RUN), unknown)).toEqual({ ...newRun(RUN), lastSeq: 1 });
  });

  it("comes to the same state from the stored events after a reload in mid-answer", () => {
    const live = replay(whole);
    for (let cut = 0; cut <= whole.length; cut++) {
      const beforeReload = whole.slice(0, cut);
      const reloaded = replay([...whole.slice(cut), ...beforeReload, ...whole.slice(cut)]);
      expect(reloaded).toEqual(live);
    }
  });
});

describe("parseEvent", () => {
  it("takes no pong and no broken frame for an event", () => {
    for (const frame of [null, 7, { type: "pong" }, { runId: RUN, seq: "1", type: "chunk", data: {} }]) {
      expect(parseEvent(frame)).toBeNull();
    }
  });

  it("keeps a problem that belongs to no run", () => {
    const frame = { runId: null, seq: 0, type: "error", at: "", data: { title: "Bad", detail: "frame" } };
    expect(parseEvent(frame)).toMatchObject({ runId: "", seq: 0, type: "error" });
  });
});

/** Fisher-Yates with a small linear congruential generator: the same order for the same seed. */
function shuffled<T>(items: T[], seed: number): T[] {
  const result = [...items];
  let state = seed;
  for (let i = result.length - 1; i > 0; i--) {
    state = (state * 1103515245 + 12345) % 2147483648;
    const j = state % (i + 1);
    const [a, b] = [result[i] as T, result[j] as T];
    result[i] = b;
    result[j] = a;
  }
  return result;
}
