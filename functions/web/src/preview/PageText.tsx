import { useEffect, useRef, useState } from "react";
import type { ContentObject } from "../api/types";
import { useText } from "../i18n/language";
import { IconButton } from "../ui/IconButton";
import { Markdown } from "../ui/Markdown";
import { tellProblem } from "../ui/toasts";
import { useWorkspace } from "../workspace/workspace";
import { type Passage, passagesOf } from "./passages";

interface PageTextProps {
  fileId: string;
  page: number | null;
  pageCount: number | null;
  quote: string | null;
  onPage(page: number): void;
}

/** The indexed text of one page (of the whole file, if it has no pages), with the quote marked and in sight. */
export function PageText({ fileId, page, pageCount, quote, onPage }: PageTextProps) {
  const t = useText();
  const objects = useObjects(fileId, page);
  const text = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (objects) text.current?.querySelector(".is-cited")?.scrollIntoView({ block: "nearest" });
  }, [objects]);
  return (
    <section className="page-text">
      {page !== null && <Pager page={page} pageCount={pageCount} onPage={onPage} />}
      <div className="page-sheet" ref={text}>
        {objects === null && <p>{t("app.loading")}</p>}
        {objects?.length === 0 && <p>{t("preview.noText")}</p>}
        {objects && passagesOf(objects, quote).map((passage) => <PassageText key={passage.key} passage={passage} />)}
      </div>
    </section>
  );
}

function Pager({ page, pageCount, onPage }: { page: number; pageCount: number | null; onPage(page: number): void }) {
  const t = useText();
  return (
    <div className="pager">
      <IconButton icon="left" label={t("preview.previous")} disabled={page <= 1} onClick={() => onPage(page - 1)} />
      <span aria-live="polite">
        {pageCount === null ? t("preview.page", { page }) : t("preview.pageOf", { page, count: pageCount })}
      </span>
      <IconButton
        icon="chevron"
        label={t("preview.next")}
        disabled={pageCount !== null && page >= pageCount}
        onClick={() => onPage(page + 1)}
      />
    </div>
  );
}

function PassageText({ passage }: { passage: Passage }) {
  const t = useText();
  return (
    <div className={passage.cited ? "prose passage is-cited" : "prose passage"}>
      {passage.text ? <Markdown text={passage.text} /> : <p className="no-image">{passage.label ?? t("preview.media")}</p>}
    </div>
  );
}

function useObjects(fileId: string, page: number | null): ContentObject[] | null {
  const { api } = useWorkspace();
  const [objects, setObjects] = useState<ContentObject[] | null>(null);
  useEffect(() => {
    let current = true;
    setObjects(null);
    api.fileObjects(fileId, page).then(
      (answer) => current && setObjects(answer),
      (error: unknown) => {
        if (!current) return;
        setObjects([]);
        tellProblem(error);
      },
    );
    return () => {
      current = false;
    };
  }, [api, fileId, page]);
  return objects;
}
