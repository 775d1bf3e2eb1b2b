/** Replaces `re2js`, which evaluates the regular expressions of Firestore pipelines. The page uses no pipelines. */
export const RE2JS = {
  compile(): never {
    throw new Error("This page was built without the regular expressions of pipelines: see vite.config.ts.");
  },
};
