package android.net;

import androidx.annotation.Nullable;
import java.util.function.BooleanSupplier;

public class ConnectivityManager {
  private final BooleanSupplier hasNetwork;

  public ConnectivityManager(BooleanSupplier hasNetwork) {
    this.hasNetwork = hasNetwork;
  }

  @Nullable
  public Network getActiveNetwork() {
    return hasNetwork.getAsBoolean() ? new Network() : null;
  }
}
