// The overview of keys, made from the table that the page obeys.

import { ACTIONS } from "./actions";
import { keySet, keysFor, RESERVED, shownKey, type KeySet } from "./keys";
import { ModalBox } from "./modal";
import { overlay } from "./workspace";

const TREE_KEYS: [string, string][] = [
  ["Up, Down, Home, End, PgUp, PgDn", "Move through the tree"],
  ["Right, Left", "Open or close a branch; go to its first child or to the parent"],
  ["Shift or Ctrl with them, Space", "Select several; move without selecting; select one more"],
  ["*", "Open all branches beside this one"],
  ["Letters", "Filter the tree; Esc shows all again"],
  ["Enter", "Go to the form; Esc goes back"],
  ["Shift+F10", "Open the menu of the row"],
];

const FIELD_KEYS: [string, string][] = [
  ["${ or Ctrl+Space", "Complete variables and functions"],
  ["Enter", "Take the value; it is also taken when you leave the field or pause"],
  ["Esc", "Give up what you typed"],
  ["Ctrl+Enter, Ctrl+Del", "Add or delete a row of a table"],
  ["Alt+Up, Alt+Down", "Move a row of a table"],
];

function Keys({ keys }: { keys: string[] }) {
  return (
    <>
      {keys.map((key, index) => (
        <span key={key}>
          {index > 0 && " or "}
          <kbd class={RESERVED.has(key) ? "reserved" : ""}>{shownKey(key)}</kbd>
        </span>
      ))}
    </>
  );
}

function Part({ title, rows }: { title: string; rows: [string, string][] }) {
  return (
    <section>
      <h3>{title}</h3>
      <table>
        <tbody>
          {rows.map(([key, what]) => (
            <tr key={key}>
              <th scope="row"><kbd>{key}</kbd></th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Help() {
  if (overlay.value !== "help") return null;
  const close = () => (overlay.value = null);
  return (
    <ModalBox title="Keys" close={close}>
      <p class="help-choice">
        <label>
          Set of keys{" "}
          <select value={keySet.value} onChange={(event) => (keySet.value = event.currentTarget.value as KeySet)}>
            <option>As JMeter</option>
            <option>As VS Code</option>
          </select>
        </label>
        <span class="note">
          In a tab, the browser takes the keys with a <kbd class="reserved">dashed</kbd> edge. Use the other key, or open the page with <code>--app</code>.
        </span>
      </p>
      <div class="help" tabIndex={0} role="region" aria-label="List of keys">
        <section>
          <h3>Actions</h3>
          <table>
            <tbody>
              {ACTIONS.filter((action) => keysFor(action.id).length).map((action) => (
                <tr key={action.id}>
                  <th scope="row"><Keys keys={keysFor(action.id)} /></th>
                  <td>{action.title}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <div>
          <Part title="In the tree" rows={TREE_KEYS} />
          <Part title="In a field" rows={FIELD_KEYS} />
        </div>
      </div>
      <p class="buttons">
        <button type="button" class="button main" onClick={close}>Close</button>
      </p>
    </ModalBox>
  );
}
