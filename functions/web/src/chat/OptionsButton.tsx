import { useText } from "../i18n/language";
import { useStore } from "../store";
import { IconButton } from "../ui/IconButton";
import { useWorkspace } from "../workspace/workspace";
import { chooseOptions, runOptions } from "./runOptions";

const POPOVER_ID = "run-options";

/** Limits and model of the next question, tucked away. */
export function OptionsButton() {
  const t = useText();
  const { me } = useWorkspace();
  const models = useStore(me)?.models ?? [];
  const options = useStore(runOptions);
  const isSet = Object.values(options).some((value) => value !== "");
  return (
    <div className="options">
      <IconButton
        icon="options"
        label={t("composer.options")}
        className={isSet ? "icon-button is-set" : "icon-button"}
        popoverTarget={POPOVER_ID}
        data-testid="options"
      />
      <div id={POPOVER_ID} className="options-popover" popover="auto" role="group" aria-label={t("composer.options")}>
        <label className="field">
          <span>{t("composer.maxCost")}</span>
          <input
            inputMode="decimal"
            placeholder="–"
            data-testid="max-cost"
            value={options.maxCostChf}
            onChange={(event) => chooseOptions({ maxCostChf: event.target.value })}
          />
        </label>
        <label className="field">
          <span>{t("composer.maxRounds")}</span>
          <input
            type="number"
            min="1"
            max="100"
            placeholder="25"
            data-testid="max-rounds"
            value={options.maxRounds}
            onChange={(event) => chooseOptions({ maxRounds: event.target.value })}
          />
        </label>
        <label className="field">
          <span>{t("composer.model")}</span>
          <select value={options.model} onChange={(event) => chooseOptions({ model: event.target.value })}>
            <option value="">{t("composer.automatic")}</option>
            {models.map((model) => (
              <option key={model.id} value={model.id}>
                {model.label}
              </option>
            ))}
          </select>
        </label>
      </div>
    </div>
  );
}
