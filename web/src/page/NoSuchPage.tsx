/** Shown for an address that names no view. */
export function NoSuchPage() {
  return (
    <section class="state">
      <h1>There is no page at this address</h1>
      <p>
        The <a href="#/">demo</a> has a counter to try. The <a href="#/dashboard">dashboard</a> lists every counter.
      </p>
    </section>
  );
}
