package android.content;

import android.net.ConnectivityManager;
import androidx.annotation.NonNull;

public class Context {
  public static final String CONNECTIVITY_SERVICE = "connectivity";
  private final ConnectivityManager connectivity;

  public Context(ConnectivityManager connectivity) {
    this.connectivity = connectivity;
  }

  public Object getSystemService(@NonNull String name) {
    return CONNECTIVITY_SERVICE.equals(name) ? connectivity : null;
  }

  public final <T> T getSystemService(@NonNull Class<T> serviceClass) {
    return serviceClass.isInstance(connectivity) ? serviceClass.cast(connectivity) : null;
  }
}
