import { useEffect } from "react";
import { useText } from "../i18n/language";
import { useWorkspace } from "../workspace/workspace";
import { focusPrompt } from "./prompt";

const EXAMPLES = ["chat.example1", "chat.example2", "chat.example3"] as const;

/** What to do here, and beginnings of questions. */
export function EmptyChat() {
  const t = useText();
  const { chat } = useWorkspace();
  // On a touch screen the keyboard would cover half of the page.
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) focusPrompt();
  }, []);
  const begin = (text: string) => {
    chat.draft.update((draft) => ({ ...draft, text }));
    focusPrompt();
  };
  return (
    <section className="chat-empty">
      <h2>{t("chat.empty")}</h2>
      <p>{t("chat.emptyHint")}</p>
      <div className="examples">
        {EXAMPLES.map((key) => (
          <button key={key} type="button" className="example" onClick={() => begin(t(key))}>
            {`${t(key).trim().replace(/:$/, "")}\u00a0…`}
          </button>
        ))}
      </div>
    </section>
  );
}
