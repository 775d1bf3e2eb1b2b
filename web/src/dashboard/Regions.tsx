/** What each region has counted, for counters of an app with several. Costs no read: it is in the counter document. */
import type { AllRegions, OtherRegion, Published } from "../counter/published.ts";
import { formatAge, formatTotal } from "../page/format.ts";

interface RegionsProps {
  /** `undefined` if nothing was counted in this region. */
  readonly last: Published | undefined;
  /** `undefined` with one region alone. */
  readonly regions: AllRegions | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function Regions({ last, regions, now }: RegionsProps) {
  if (!regions) return null;
  const own: OtherRegion = { name: "this one", heard: last, isUnreachable: false };
  return (
    <section aria-labelledby="regions-title" id="regions">
      <div class="caption">
        <h2 id="regions-title">Regions</h2>
        <p>What each region had counted when this one last heard of a change there.</p>
      </div>
      <table>
        <caption class="unseen">Regions and their totals</caption>
        <thead>
          <tr>
            <th scope="col">Region</th>
            <th scope="col" class="number">
              Total
            </th>
            <th scope="col" class="number">
              As of
            </th>
          </tr>
        </thead>
        <tbody>
          {[own, ...regions.others].map(({ name, heard, isUnreachable }) => (
            <tr key={name}>
              <th scope="row">
                <bdi title={name}>{name}</bdi>
              </th>
              <td class="number" data-label="total">
                {heard ? formatTotal(heard.total) : "–"}
              </td>
              <td class="number">
                {heard ? `${formatAge(now - heard.asOf)} ago` : name === own.name ? "nothing yet" : "never heard"}
                {isUnreachable && ", cut off"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
