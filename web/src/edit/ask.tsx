// A question with one line as its answer.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ModalBox } from "./modal";

interface Ask {
  title: string;
  label: string;
  value: string;
  verb: string;
  run: (text: string) => unknown;
}

const asked = signal<Ask | null>(null);

export function ask(question: Ask) {
  asked.value = question;
}

export function AskDialog() {
  return asked.value && <Dialog key={asked.value.title} question={asked.value} />;
}

function Dialog({ question }: { question: Ask }) {
  const [text, setText] = useState(question.value);
  const close = () => (asked.value = null);
  return (
    <ModalBox title={question.title} close={close}>
      <form
        class="values"
        onSubmit={(event) => {
          event.preventDefault();
          close();
          void question.run(text.trim());
        }}
      >
        <label class="field">
          {question.label}
          <input autofocus value={text} spellcheck={false} required onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <p class="buttons">
          <button type="submit" class="button main">{question.verb}</button>
          <button type="button" class="button" onClick={close}>Cancel</button>
        </p>
      </form>
    </ModalBox>
  );
}
