import { GoogleAuthProvider } from "firebase/auth";
import { getIncremented } from "firestore-tally";
import { expect, test, vi } from "vitest";
import { projectWithFunctions, setUpProjects, until } from "./project.ts";

// The Auth emulator issues tokens for the project that it was started with.
vi.hoisted(() => {
  process.env.GCLOUD_PROJECT = "demo-tally";
});
setUpProjects();

/** A credential of Google, which the emulator takes without a signature. */
const google = (sub: string) =>
  GoogleAuthProvider.credential(JSON.stringify({ sub, email: `${sub}@example.com`, email_verified: true }));

async function setUp() {
  const project = await projectWithFunctions();
  const { auth } = await import("../../examples/setup/firebase.ts");
  const { counter } = await import("firestore-tally");
  const { like, unlike } = await import("../../examples/likes/likes.ts");
  const { openSale } = await import("../../examples/stock/stock.ts");
  const { buy } = await import("../../examples/stock/tickets.ts");
  const { signInAs } = await import("../../examples/accounts/signIn.ts");
  const { accountDeleted } = await import("../../examples/accounts/deleted.ts");
  const { mergeAccounts } = await import("../../examples/accounts/merged.ts");
  const sums = async (...ids: string[]) => await Promise.all(ids.map(async (id) => (await project.increments(id)).sum));
  const call = async (guestToken: string) => {
    const request = { auth: auth.currentUser && { uid: auth.currentUser.uid }, data: { guestToken } };
    await mergeAccounts.run(request as Parameters<typeof mergeAccounts.run>[0]);
  };
  const liked = (post: string) => getIncremented(counter(project.db, `likes:${post}`), auth.currentUser?.uid ?? "");
  return { ...project, auth, like, unlike, openSale, buy, signInAs, accountDeleted, sums, call, liked };
}

test("the likes and tickets of an account that is deleted are undone, and its trigger may be repeated", async () => {
  const { like, buy, openSale, anotherUser, sums, total, auth, accountDeleted } = await setUp();
  const all = ["likes:gone1", "likes:gone2", "tickets:gone"];
  await openSale("gone", 10);
  await like("gone1");
  await anotherUser();
  for (const post of ["gone1", "gone2"]) await like(post);
  await buy("gone", 3);
  expect(await sums(...all)).toEqual([2, 1, 7]);
  const user = { uid: auth.currentUser?.uid } as Parameters<typeof accountDeleted.run>[0];
  const context = {} as Parameters<typeof accountDeleted.run>[1];
  for (let n = 0; n < 2; n++) await accountDeleted.run(user, context);
  expect(await sums(...all)).toEqual([1, 0, 10]);
  await until(async () => expect(await total("likes:gone2")).toBe(0));
});

test("a guest who becomes a permanent account keeps the uid; one who has an account takes the likes along", async () => {
  const { like, unlike, anotherUser, sums, auth, signInAs, call, liked } = await setUp();
  const all = ["likes:both", "likes:new"];
  await like("both");
  const guest = auth.currentUser?.uid;
  await signInAs(google("ada"), call);
  const ada = auth.currentUser?.uid;
  expect(ada).toBe(guest);
  await anotherUser();
  for (const post of ["both", "new"]) await like(post);
  expect(auth.currentUser?.isAnonymous).toBe(true);
  expect(await sums(...all)).toEqual([2, 1]);
  const failing = () => Promise.reject(new Error("offline"));
  await expect(signInAs(google("ada"), failing)).rejects.toThrow("offline");
  expect(await sums(...all)).toEqual([2, 1]);
  await signInAs(google("ada"), call);
  expect(auth.currentUser?.uid).toBe(ada);
  expect(await sums(...all)).toEqual([1, 1]);
  expect(await liked("new")).toBe(true);
  await unlike("new");
  expect(await sums(...all)).toEqual([1, 0]);
  // Not another permanent account, and not without an account.
  await expect(call((await auth.currentUser?.getIdToken()) ?? "")).rejects.toMatchObject({ code: "permission-denied" });
});
