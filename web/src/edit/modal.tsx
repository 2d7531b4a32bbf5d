import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A dialog over the page. It keeps the focus, and gives it back where it was. */
export function ModalBox({ title, close, isPalette, children }: { title: string; close: () => void; isPalette?: boolean; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const isText = (before instanceof HTMLInputElement && before.type !== "checkbox") || before instanceof HTMLTextAreaElement;
    const caret = isText ? [before.selectionStart ?? 0, before.selectionEnd ?? 0] : null;
    const dialog = box.current!;
    dialog.showModal();
    return () => {
      // Nothing outside takes the focus while the dialog is open.
      dialog.close();
      (before?.isConnected && before !== document.body ? before : document.getElementById("tree"))?.focus();
      // The browser forgets the caret of a field that a dialog covers.
      if (isText && caret) before.setSelectionRange(caret[0], caret[1]);
    };
  }, []);
  return (
    <dialog
      ref={box}
      class={isPalette ? "palette" : "dialog"}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onMouseDown={(event) => event.target === box.current && close()}
    >
      {!isPalette && <h2>{title}</h2>}
      {children}
    </dialog>
  );
}
