/** Replaces the security rules of a project in the emulator, at once. @throws Error if they do not compile */
export async function loadRules(project: string, rules: string): Promise<void> {
  const host = process.env.FIRESTORE_EMULATOR_HOST;
  const loaded = await fetch(`http://${host}/emulator/v1/projects/${project}:securityRules`, {
    method: "PUT",
    body: JSON.stringify({ rules: { files: [{ name: "firestore.rules", content: rules }] } }),
  });
  if (!loaded.ok) throw new Error(`the emulator refuses these rules: ${await loaded.text()}`);
}
