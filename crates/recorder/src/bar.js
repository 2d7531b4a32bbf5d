window.drumfire = (() => {
  const ask = (wish) => window.__drumfireRecorder(JSON.stringify(wish));
  let root, name, pause, message, isPaused = false;
  const show = (step, paused) => {
    isPaused = paused;
    if (!root) return;
    name.value = step;
    pause.textContent = paused ? 'Record' : 'Pause';
  };
  const tell = (text) => { if (root) message.textContent = message.title = text; };
  const element = (kind, text, style) => {
    const made = document.createElement(kind);
    made.textContent = text;
    Object.assign(made.style, { font: '13px sans-serif', margin: '0 4px', padding: '2px 6px', ...style });
    return made;
  };
  const button = (id, text, act) => {
    const made = element('button', text, {});
    made.id = id;
    // The page keeps its selection.
    made.addEventListener('mousedown', (event) => event.preventDefault());
    made.addEventListener('click', act);
    return made;
  };
  const build = () => {
    const host = document.createElement('drumfire-bar');
    Object.assign(host.style, {
      position: 'fixed', bottom: '8px', right: '8px', zIndex: 2147483647, background: '#fff', color: '#000',
      border: '1px solid #888', borderRadius: '4px', padding: '4px',
    });
    root = host.attachShadow({ mode: 'open' });
    name = element('input', '', { width: '12em' });
    name.id = 'name';
    name.placeholder = 'Name of the step';
    name.addEventListener('change', () => ask({ do: 'step', text: name.value }));
    pause = button('pause', 'Pause', () => {
      show(name.value, !isPaused);
      ask({ do: 'pause', on: isPaused });
    });
    const expect = button('expect', 'Expect selection', () => {
      const text = String(window.getSelection()).trim();
      if (text) ask({ do: 'expect', text }); else tell('Select a text first');
    });
    message = element('span', '', {
      display: 'inline-block', maxWidth: '24em', overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap', verticalAlign: 'middle',
    });
    root.append(name, pause, expect, button('stop', 'Stop', () => ask({ do: 'stop' })), message);
    document.documentElement.append(host);
    ask({ do: 'state' });
  };
  const bar = () => {
    if (!root && document.documentElement) build();
    return root;
  };
  return {
    step: (text) => ask({ do: 'step', text }),
    pause: (on) => ask({ do: 'pause', on }),
    expect: (text) => ask({ do: 'expect', text }),
    stop: () => ask({ do: 'stop' }),
    bar: () => {
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', bar);
      return bar();
    },
    show, tell,
  };
})();
