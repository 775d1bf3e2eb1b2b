const { getDefaultConfig, mergeConfig } = require("@react-native/metro-config");
const { resolveFirestore } = require("./resolveFirestore");

module.exports = mergeConfig(getDefaultConfig(__dirname), { resolver: { resolveRequest: resolveFirestore } });
