"""The features behind the prediction of trees, in closed form."""
