/** The security rules in the emulator. */

/** Puts other rules in force for a project, at once. @throws Error if they are none */
export async function loadRules(project: string, rules: string): Promise<void> {
  const host = process.env.FIRESTORE_EMULATOR_HOST;
  const loaded = await fetch(`http://${host}/emulator/v1/projects/${project}:securityRules`, {
    method: "PUT",
    body: JSON.stringify({ rules: { files: [{ name: "firestore.rules", content: rules }] } }),
  });
  if (!loaded.ok) throw new Error(`the emulator does not take these rules: ${await loaded.text()}`);
}
