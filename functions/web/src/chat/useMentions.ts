import { type KeyboardEvent, type RefObject, useState } from "react";
import { useWorkspace } from "../workspace/workspace";
import { completed, type Mentionable, mentionables, mentionAt } from "./mentions";

/** The @-autocomplete: what is offered for the caret's place, and the keys that choose from it. */
export function useMentions(box: RefObject<HTMLTextAreaElement | null>) {
  const { chat, files } = useWorkspace();
  const [found, setFound] = useState<Mentionable[]>([]);
  const [active, setActive] = useState(0);
  const close = () => setFound([]);

  const look = (text: string, caret: number) => {
    const mention = mentionAt(text, caret);
    const { files: known, folders } = files.state.get();
    setFound(mention ? mentionables(known, folders, mention.query) : []);
    setActive(0);
  };

  const choose = (chosen: Mentionable) => {
    const input = box.current;
    const mention = input && mentionAt(input.value, input.selectionStart);
    if (!mention) return;
    const next = completed(input.value, input.selectionStart, mention, chosen.label);
    chat.draft.update((draft) => ({ ...draft, text: next.text }));
    if (chosen.fileId) chat.attach(chosen.fileId);
    close();
    requestAnimationFrame(() => {
      input.focus();
      input.setSelectionRange(next.caret, next.caret);
    });
  };

  /** True when the key was for the list. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = found[active];
    if (!chosen) return false;
    if (step) setActive((active + step + found.length) % found.length);
    else if (event.key === "Enter" || event.key === "Tab") choose(chosen);
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };

  return { found, active, look, choose, close, onKeyDown };
}
