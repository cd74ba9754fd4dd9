import { Store } from "../store";

/** A question in a dialog. `null` as the answer means that the user thought better of it. */
export interface Prompt {
  title: string;
  body?: string;
  action: string;
  danger?: boolean;
  field?: { label: string; value: string; options?: readonly { value: string; label: string }[] };
  answer(value: string | null): void;
}

export const prompt = new Store<Prompt | null>(null);

export async function confirmed(question: Omit<Prompt, "answer" | "field">): Promise<boolean> {
  return (await show(question)) !== null;
}

export function askFor(question: Omit<Prompt, "answer"> & Required<Pick<Prompt, "field">>): Promise<string | null> {
  return show(question);
}

function show(question: Omit<Prompt, "answer">): Promise<string | null> {
  return new Promise((resolve) => {
    const answer = (value: string | null) => {
      prompt.set(null);
      resolve(value);
    };
    prompt.set({ ...question, answer });
  });
}
