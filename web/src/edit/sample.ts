// The parts that the views of a sample share.

import { call } from "./client";
import type { RunSampleDetail } from "./protocol";

/** The bytes of a body that one request asks for. */
export const WINDOW = 256 * 1024;

/** A sample of a run, or the sub-result to which the path leads. */
export interface Place {
  run: number;
  number: number;
  path: number[];
}

export const windowOf = async (place: Place, offset: number) => (await call<RunSampleDetail>("run_sample_detail", { ...place, offset, length: WINDOW })).response.body;

export const bytes = (count: number) => (count < 10_000 ? `${count} bytes` : count < 10_000_000 ? `${Math.round(count / 1000)} kB` : `${Math.round(count / 1e6)} MB`);

/** The request as it went over the wire. */
export function sentText({ sample, request }: RunSampleDetail): string {
  const cookies = request.cookies && !/^cookie:/im.test(request.headers) ? [`Cookie: ${request.cookies}`] : [];
  return [[sample.method, sample.url].filter(Boolean).join(" "), request.headers.trimEnd(), ...cookies, "", request.body].filter((line, at) => line || at >= 2).join("\n").trimEnd();
}
