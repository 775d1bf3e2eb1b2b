/**
 * Metro's resolver, with the native SDK in place of the web SDK: what Tally imports from `firebase/firestore` has the same
 * name in `@react-native-firebase/firestore`. The latter's own imports of `firebase` stay as they are.
 */
function resolveFirestore(context, name, platform) {
  const isReplaced = name === "firebase/firestore" && !context.originModulePath.includes("@react-native-firebase");
  return context.resolveRequest(context, isReplaced ? "@react-native-firebase/firestore" : name, platform);
}

module.exports = { resolveFirestore };
