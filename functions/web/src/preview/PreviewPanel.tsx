import { useEffect, useState } from "react";
import type { FileIndex } from "../api/types";
import { useText } from "../i18n/language";
import { useStore } from "../store";
import { IconButton } from "../ui/IconButton";
import { Markdown } from "../ui/Markdown";
import { tellProblem } from "../ui/toasts";
import type { PreviewTarget } from "../workspace/panels";
import { useWorkspace } from "../workspace/workspace";
import { Outline } from "./Outline";
import { PageText } from "./PageText";
import { PreviewActions } from "./PreviewActions";

/** The side panel: what is indexed of a file, opened at the cited page. */
export function PreviewPanel() {
  const { panels } = useWorkspace();
  const target = useStore(panels.preview);
  return target && <Preview key={`${target.fileId}/${target.citation?.number}/${target.page}`} target={target} />;
}

function Preview({ target }: { target: PreviewTarget }) {
  const t = useText();
  const { panels } = useWorkspace();
  const index = useIndex(target.fileId);
  const [page, setPage] = useState(target.page);
  const structure = index?.structure ?? null;
  const pageCount = structure?.pageCount ?? null;
  const shownPage = page ?? (pageCount === null ? null : 1);
  const { citation, fileName } = target;
  return (
    <aside
      className="preview"
      data-testid="preview"
      data-page={shownPage ?? undefined}
      aria-label={`${t("preview.title")}: ${fileName}`}
    >
      <header className="preview-header">
        <h2 title={fileName}>{fileName}</h2>
        <IconButton icon="close" label={t("common.close")} autoFocus onClick={panels.closePreview} />
      </header>
      <div className="preview-body">
        <PreviewActions fileId={target.fileId} page={shownPage} chunkCount={index?.chunkCount ?? null} />
        {citation && (
          <figure className="cited">
            <figcaption>
              <span className="citation pending">{citation.number}</span> {t("preview.cited")}
            </figcaption>
            <blockquote className="prose">
              <Markdown text={citation.quote} />
            </blockquote>
          </figure>
        )}
        {structure && structure.sections.length > 0 && (
          <Outline sections={structure.sections} page={shownPage} onPage={setPage} />
        )}
        {index && (
          <PageText
            fileId={target.fileId}
            page={shownPage}
            pageCount={pageCount}
            quote={citation?.quote ?? null}
            onPage={setPage}
          />
        )}
      </div>
    </aside>
  );
}

function useIndex(fileId: string): FileIndex | null {
  const { api, files } = useWorkspace();
  const [index, setIndex] = useState<FileIndex | null>(null);
  const status = useStore(files.state).files.find((file) => file.id === fileId)?.status;
  const isIndexed = status === undefined || status === "indexed";
  useEffect(() => {
    let current = true;
    if (isIndexed) api.fileIndex(fileId).then((answer) => current && setIndex(answer), tellProblem);
    return () => {
      current = false;
    };
  }, [api, fileId, isIndexed]);
  return index;
}
