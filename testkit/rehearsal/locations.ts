/** Where Google runs what a deployment creates. The lists grow by a region or two a year. */

/**
 * Of Cloud Functions of the 2nd generation (https://cloud.google.com/functions/docs/locations). Cloud Tasks and Cloud Scheduler run in
 * these and a few more. None of them runs in a multi-region of Firestore.
 */
export const REGIONS: readonly string[] = [
  ...["africa-south1", "asia-east1", "asia-east2", "asia-northeast1", "asia-northeast2", "asia-northeast3"],
  ...["asia-south1", "asia-south2", "asia-southeast1", "asia-southeast2", "australia-southeast1"],
  ...["australia-southeast2", "europe-central2", "europe-north1", "europe-north2", "europe-southwest1"],
  ...["europe-west1", "europe-west2", "europe-west3", "europe-west4", "europe-west6", "europe-west8"],
  ...["europe-west9", "europe-west10", "europe-west12", "me-central1", "me-central2", "me-west1"],
  ...["northamerica-northeast1", "northamerica-northeast2", "northamerica-south1", "southamerica-east1"],
  ...["southamerica-west1", "us-central1", "us-east1", "us-east4", "us-east5", "us-south1", "us-west1"],
  ...["us-west2", "us-west3", "us-west4"],
];

/** https://firebase.google.com/docs/firestore/locations */
export const MULTI_REGIONS: readonly string[] = ["nam5", "nam7", "eur3"];
