// Pictures of JMeter's kinds of elements and of the buttons: drawn in a square of 16, in the colour of the text.

const PATHS: Record<string, string> = {
  "Test Plan": "M3 2.5h7l3 3v8H3zM10 2.5v3h3M5.5 8.5h5M5.5 11h3.5",
  "Threads (Users)": "M6 7.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM2 13c0-2.4 1.7-3.8 4-3.8s4 1.4 4 3.8M10.6 7a1.8 1.8 0 1 0-.6-3.4M11.4 9.3c1.6.3 2.6 1.6 2.6 3.4",
  "Logic Controller": "M3 4h4v3H3zM9.5 9h4v3.500h-4zM5 7v3.800h4.500",
  "Test Fragment": "M6 3H3v10h3M10 3h3v10h-3M6.500 8h3",
  Sampler: "M2.500 8h10M9 4.500 12.500 8 9 11.500",
  "Config Element": "M3 4.500h5.500M11.500 4.500H13M3 11.500h1.500M7.500 11.500H13M10 6a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3zM6 13a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3z",
  Timer: "M8 13.500a5.300 5.300 0 1 0 0-10.600 5.300 5.300 0 0 0 0 10.600zM8 5.300v3l2 1.400M6.500 1.500h3",
  "Pre Processors": "M2.500 3v10M5.500 8h8M10 4.500 13.500 8 10 11.500",
  "Post Processors": "M13.500 3v10M2.500 8h8M7 4.500 10.500 8 7 11.500",
  Assertions: "M3 3.500 8 2l5 1.500v4c0 3.200-2.200 5.400-5 6.500-2.800-1.100-5-3.300-5-6.500zM5.800 7.800l1.700 1.700 2.900-3.200",
  Listener: "M3 13V8.500M6.300 13V4M9.700 13V7M13 13V2.500",
  "Non-Test Elements": "M8 2.500 13.500 8 8 13.500 2.500 8z",
  save: "M3 3h8l2 2v8H3zM5.500 3v3.500h4.500V3M5.500 13V9.500h5V13",
  undo: "M5.500 3.500 2.500 6.500l3 3M2.500 6.500H10a3.300 3.300 0 0 1 0 6.600H7",
  redo: "M10.500 3.500l3 3-3 3M13.500 6.500H6a3.300 3.300 0 0 0 0 6.600h3",
  search: "M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.300 10.300 13.800 13.800",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  back: "M10 3 5 8l5 5",
  forward: "M6 3l5 5-5 5",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  light: "M8 10.800a2.800 2.800 0 1 0 0-5.600 2.800 2.800 0 0 0 0 5.600zM8 1.500v1.600M8 12.900v1.600M1.500 8h1.600M12.900 8h1.600M3.400 3.400l1.100 1.100M11.500 11.500l1.100 1.100M12.600 3.400l-1.100 1.100M4.500 11.500l-1.100 1.100",
  dark: "M13 9.700A5.500 5.500 0 0 1 6.300 3 5.500 5.500 0 1 0 13 9.700z",
  error: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.500M8 10.800v.2",
  warning: "M8 2.500 14.300 13.500H1.700zM8 6.500v3.200M8 11.500v.2",
  advice: "M6 12h4M6.500 14h3M8 2a4 4 0 0 0-2.300 7.300c.500.400.600.900.600 1.300h3.400c0-.4.100-.9.600-1.300A4 4 0 0 0 8 2z",
  help: "M5.800 6a2.300 2.300 0 1 1 3.300 2.100c-.8.400-1.100.8-1.100 1.600M8 12.300v.2",
  reset: "M3 8a5 5 0 1 0 1.700-3.700M3 2.500v3h3",
  expression: "M10.500 2.500c-3-.5-2.800 2-3.100 4.500L6.500 13c-.2 1-1 1-2 .7M5 7.500h5",
  eye: "M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8zM8 9.800a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600z",
  panel: "M2.500 3h11v10h-11zM10 3v10",
  open: "M5 7l3 3 3-3",
  run: "M5 3.2v9.600L12.500 8z",
  stop: "M4 4h8v8H4z",
  off: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.800 3.800l8.400 8.400",
};

const COLOURS: Record<string, string> = {
  "Threads (Users)": "users",
  "Logic Controller": "controller",
  "Test Fragment": "controller",
  Sampler: "sampler",
  "Config Element": "config",
  Timer: "timer",
  "Pre Processors": "processor",
  "Post Processors": "processor",
  Assertions: "assertion",
  Listener: "listener",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class={`icon ${COLOURS[name] ? `of-${COLOURS[name]}` : ""}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name] ?? PATHS["Non-Test Elements"]} />
    </svg>
  );
}
