// Whether the axes of time show the time since the start of the run, or the time of day. The choice stays for later pages.

import { chosen } from "./theme";

const NAME = "drumfire-clock";
let isClock = chosen.get(NAME) === "clock";

export const clock = {
  isShown: () => isClock,
  show: (wanted: boolean) => {
    isClock = wanted;
    chosen.set(NAME, wanted ? "clock" : "elapsed");
  },
};
