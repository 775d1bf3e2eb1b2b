/** Scheduled jobs (https://cloud.google.com/scheduler/docs/reference/rest/v1/projects.locations.jobs). */

import { REGIONS } from "../../../functions/src/decisions.ts";
import { type Job, segmentAfter } from "../cloud.ts";
import { ApiError, existing, route, type Service } from "../routes.ts";

const HOST = "cloudscheduler.googleapis.com";
const JOB = "{name=projects/*/locations/*/jobs/*}";

export const cloudScheduler: Service = (cloud) => {
  const jobOf = (name: string) => existing(cloud.jobs, name, "Job");
  const save = (job: Job) => {
    checkJob(job);
    cloud.jobs.set(job.name, job);
    return job;
  };
  return [
    route("GET", HOST, `/v1/${JOB}`, ({ name }) => jobOf(name)),
    route("POST", HOST, "/v1/projects/*/locations/*/jobs", ({ body }) => save({ state: "ENABLED", ...body })),
    route("PATCH", HOST, `/v1/${JOB}`, ({ name, body }) => save({ ...jobOf(name), ...body })),
    route("DELETE", HOST, `/v1/${JOB}`, ({ name }) => {
      jobOf(name);
      cloud.jobs.delete(name);
      return {};
    }),
  ];
};

function checkJob({ name, timeZone, httpTarget }: Job): void {
  const region = segmentAfter(name, "locations");
  // https://cloud.google.com/scheduler/docs/reference/rest/v1/projects.locations/list
  if (!REGIONS.includes(region)) throw new ApiError(400, `Location '${region}' is not a valid location.`);
  // The reference of `timeZone`: "The value of this field must be a time zone name from the tz database."
  if (timeZone && !isTimeZone(timeZone)) throw new ApiError(400, `${timeZone} is no time zone of the tz database.`);
  // The reference of `uri`: "Required."
  if (httpTarget && !httpTarget.uri) throw new ApiError(400, "HttpTarget.uri must be set.");
}

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}
