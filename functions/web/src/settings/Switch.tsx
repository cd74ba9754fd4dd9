import { useId } from "react";

interface SwitchProps {
  label: string;
  hint: string;
  checked: boolean;
  onChange(checked: boolean): unknown;
  testId: string;
}

/** A setting that is on or off. It shows what holds, which changes when the server has said so. */
export function Switch({ label, hint, checked, onChange, testId }: SwitchProps) {
  const hintId = useId();
  return (
    <div className="switch">
      <label>
        <span>{label}</span>
        <input
          type="checkbox"
          role="switch"
          checked={checked}
          aria-describedby={hintId}
          data-testid={testId}
          onChange={(event) => void onChange(event.target.checked)}
        />
      </label>
      <p id={hintId}>{hint}</p>
    </div>
  );
}
