const { DefinePlugin } = require("webpack");

const { GCLOUD_PROJECT, EMULATOR_PORT } = process.env;

module.exports = {
  mode: "production",
  entry: "./page.js",
  output: { path: `${__dirname}/dist`, filename: "page.js" },
  performance: false,
  plugins: [new DefinePlugin({ PROJECT: JSON.stringify(GCLOUD_PROJECT), EMULATOR_PORT })],
};
