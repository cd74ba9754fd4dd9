import { type FormEvent, useEffect, useRef, useState } from "react";
import { useText } from "../i18n/language";
import { useStore } from "../store";
import { type Prompt, prompt } from "./prompts";

export function PromptDialog() {
  const current = useStore(prompt);
  return current && <Dialog key={current.title} question={current} />;
}

/** The browser's own modal dialog: it holds the focus and closes on Esc. */
function Dialog({ question }: { question: Prompt }) {
  const t = useText();
  const dialog = useRef<HTMLDialogElement>(null);
  const [value, setValue] = useState(question.field?.value ?? "");
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    question.answer(value);
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="prompt-title" onClose={() => question.answer(null)}>
      <form onSubmit={submit}>
        <h2 id="prompt-title">{question.title}</h2>
        {question.body && <p>{question.body}</p>}
        {question.field && <Field field={question.field} value={value} onChange={setValue} />}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={() => question.answer(null)}>
            {t("common.cancel")}
          </button>
          <button type="submit" className={question.danger ? "button danger" : "button primary"}>
            {question.action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

interface FieldProps {
  field: NonNullable<Prompt["field"]>;
  value: string;
  onChange(value: string): void;
}

function Field({ field, value, onChange }: FieldProps) {
  const input = field.options ? (
    <select value={value} onChange={(event) => onChange(event.target.value)}>
      {field.options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  ) : (
    <input autoFocus value={value} onChange={(event) => onChange(event.target.value)} />
  );
  return (
    <label className="field">
      <span>{field.label}</span>
      {input}
    </label>
  );
}
