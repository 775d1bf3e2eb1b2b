// A fresh process of functions: imports a module, handles an event if one is given, and tells the CPU-seconds that it has taken so far.
// Not TypeScript, whose loading would count.
const [module, event] = process.argv.slice(2);
const { tally } = await import(module);
if (event) await tally.shardcreated(JSON.parse(event));
const { user, system } = process.cpuUsage();
process.send({ seconds: (user + system) / 1e6 }, () => process.exit());
