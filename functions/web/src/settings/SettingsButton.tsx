import { useText } from "../i18n/language";
import { useStore } from "../store";
import { IconButton } from "../ui/IconButton";
import { useWorkspace } from "../workspace/workspace";
import { Switch } from "./Switch";

const POPOVER_ID = "settings";

/** The user's settings and, for administrators, those of the organisation. */
export function SettingsButton() {
  const t = useText();
  const { settings } = useWorkspace();
  return (
    <div className="settings">
      <IconButton icon="settings" label={t("settings.title")} popoverTarget={POPOVER_ID} data-testid="settings" />
      <div
        id={POPOVER_ID}
        className="settings-popover"
        popover="auto"
        role="group"
        aria-label={t("settings.title")}
        onBeforeToggle={(event) => event.newState === "open" && void settings.refresh()}
      >
        <WebSearch />
      </div>
    </div>
  );
}

function WebSearch() {
  const t = useText();
  const { settings, me } = useWorkspace();
  const held = useStore(settings.state);
  const isAdmin = useStore(me)?.roles.includes("admin") ?? false;
  if (held === null) return <p>{t("app.loading")}</p>;
  const forAll = held.mandate.webSearchEnabled ?? true;
  return (
    <>
      <Switch
        label={t("settings.webSearch")}
        hint={held.canSearchWeb ? t("settings.webSearchHint") : t("settings.webSearchMissing")}
        checked={held.webSearchEnabled}
        onChange={settings.choose}
        testId="web-search"
      />
      {held.own.webSearchEnabled !== null && (
        <button type="button" className="link-button" onClick={() => void settings.choose(null)}>
          {forAll ? t("settings.asOrganisationOn") : t("settings.asOrganisationOff")}
        </button>
      )}
      {isAdmin && (
        <Switch
          label={t("settings.webSearchForAll")}
          hint={t("settings.webSearchForAllHint")}
          checked={forAll}
          onChange={settings.chooseForAll}
          testId="web-search-for-all"
        />
      )}
    </>
  );
}
